"""Tasks of a developer: `nox` runs the first, `nox -s NAME` another, `nox -R -s NAME` without installing again."""

import nox

nox.options.sessions = ["quick"]
nox.options.reuse_existing_virtualenvs = True

QUICK = (
    "suites/selfcheck/configuration",
    "suites/selfcheck/engine/test_certificate.py",
    "suites/selfcheck/engine/test_draw.py",
    "suites/selfcheck/engine/test_outcome.py",
    "suites/selfcheck/engine/test_registry.py",
    "suites/selfcheck/engine/test_run.py",
    "suites/selfcheck/engine/test_validate.py",
    "suites/selfcheck/faults",
    "suites/selfcheck/operators",
    "suites/selfcheck/oracles",
    "suites/selfcheck/processes/test_file_log.py",
    "suites/selfcheck/reports/test_every_reporter.py",
    "suites/selfcheck/systems/test_program_input.py",
    "suites/selfcheck/test_cases.py::test_each_pair_is_complete",
    "suites/selfcheck/test_determinism.py",
    "suites/selfcheck/test_spec.py",
    "suites/selfcheck/workloads",
)
"""Some of each area of `suites/selfcheck`; needs no extra but `test`."""
CASES = "sim and (barriers or delivery or recovery)"
"""Some conformance cases, on the simulator."""


@nox.session
def quick(session: nox.Session) -> None:
    """Some of each area, within a minute on two cores: what to run after each change."""
    session.install("-e", ".[test]")
    pytest = ("python", "-m", "pytest", "-q")
    session.run(*pytest, *QUICK)
    session.run(*pytest, "suites/conformance", "-k", CASES)


@nox.session
def check(session: nox.Session) -> None:
    """What the code must look like: format, lints, types, layers."""
    session.install("-e", ".[test,develop]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run(".ci/types", external=True)
    session.run("lint-imports")


@nox.session
def certify(session: nox.Session) -> None:
    """The reference runtime on the simulator: every conformance case and some 300 drawn plans."""
    session.install("-e", ".")
    session.run("holdfast", "certify", "reference", "--tier", "sim", *session.posargs)


@nox.session
def suites(session: nox.Session) -> None:
    """Every test that this machine can run; `nox -s suites -- PATH` those of one folder."""
    session.install("-e", ".[all]")
    session.run("python", "-m", "pytest", *(session.posargs or ["suites/"]))
