"""The pytest plugin (entry point `pytest11`): a fixture and a mark, the registry of cases as tests, and tiers.

    from holdfast.harness.faults import kill

    @pytest.mark.holdfast(rules="E2E-02", faults=[kill("worker", after_acknowledged=2)], runs=20)
    def test_my_pipeline(holdfast):
        holdfast.certify("my_module:MyEngine")

certifies a system under the faults of the mark. Without faults it runs the cases that decide the rules; without both it
draws plans. A failure shows what, when, why and next, and the folder of the run. Every case as a test of its own:

    from holdfast.harness.plugin import case_parameters

    @pytest.mark.parametrize(("case", "tier"), case_parameters("reference"))
    def test_case(case, tier, run_case):
        run_case("reference", case, tier)

What does not apply to the system, or needs a tier that this machine lacks, is left out of the collection; one line says
how much, and why. Every pytest run loads this plugin where Holdfast is installed, so it imports the rest of the package
only when a test needs it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from holdfast.harness.model.case import Case, Tier
    from holdfast.harness.model.journal import CaseResult

RunCase = Callable[["str", "Case", "Tier"], "CaseResult"]
_RESULTS = Path("holdfast-out") / "pytest"
_SHARED = ("containers", "spark")
"""Tiers whose sessions take seconds to come up and gigabytes to keep."""
_REQUIRED = "--holdfast-require-tier"
_SITE = tuple(
    f"--holdfast-{name}" for name in ("kafka-bootstrap", "s3-endpoint", "spark-master", "image", "allow-faults-on")
)
_LEFT_OUT = "holdfast_left_out"
_left_out: Counter[str] = Counter()
"""By reason, how many tests of this process were left out of the collection."""
_REASONS = 4
"""So many of them the line at the end gives."""


class Holdfast:
    """The fixture `holdfast`.

    Args:
        fields: of the mark of the test.
        folder: takes the runs that are kept.
        seed: first draw seed.
    """

    def __init__(self, fields: dict[str, object], folder: Path, seed: int) -> None:
        self._fields = fields
        self._folder = folder
        self._seed = seed

    def certify(self, system: str) -> None:
        """Run what the mark asks for, and fail the test if something is refuted or stays open.

        Args:
            system: registered, or `module:name`; with a variant behind a plus sign.
        """
        from holdfast.harness.commands.marked_test import certify, mark_of
        from holdfast.harness.engine.errors import ForeignError, NotApplicable, UsageError
        from holdfast.harness.engine.site.foreign import let_pass

        let_pass(pytest.fail.Exception)  # Pytest ends a test with it, such as at a time limit.
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.append(here)  # As for the command: what stands in the current folder can be named.
        try:
            failure = certify(system, mark_of(self._fields), self._folder, self._seed)
        except NotApplicable as error:
            failure, reason = "", str(error)
        except (ForeignError, UsageError) as error:
            failure, reason = str(error), ""
        else:
            reason = ""
        # Outside of the handlers: no frame of ours, and no other exception, stands above what is to be read.
        if reason:
            raise pytest.skip.Exception(reason, _use_item_location=True)
        if failure:
            pytest.fail(failure, pytrace=False)


def case_parameters(
    system: str, wanted: Callable[[Case], bool] = lambda case: True, tiers: Collection[Tier] | None = None
) -> list[object]:
    """(case, tier) for every wanted case that applies to a system, on these tiers or on all, each with the mark of its
    tier."""
    from holdfast.harness.engine.cases.case import not_applicable
    from holdfast.harness.engine.cases.swarm_case import cases_for
    from holdfast.harness.engine.site import registry

    under_test = registry.system(system)
    found: list[object] = []
    for case in filter(wanted, cases_for(under_test)):
        for tier in case.tiers:
            if tiers is not None and tier not in tiers:
                continue
            if reason := not_applicable(case, under_test, tier):
                _left_out[reason] += 1
            else:
                found.append(pytest.param(case, tier, id=f"{case.id}-{tier}", marks=pytest.mark.tier(tier.value)))
    return found


@pytest.fixture
def run_case(holdfast_seed: int, tmp_path: Path, pytestconfig: pytest.Config) -> RunCase:
    """Runs a case and fails unless it passes. Each case writes its own result file below the name of the system, so
    xdist may run several."""

    def run(name: str, case: Case, tier: Tier) -> CaseResult:
        from holdfast.harness.engine.cases.case_run import run_case as result_of
        from holdfast.harness.engine.site.foreign import let_pass

        let_pass(pytest.fail.Exception)  # Pytest ends a test with it, such as at a time limit.
        result = result_of(name, case, tier, first_seed=holdfast_seed, folder=tmp_path)
        _write(pytestconfig.rootpath / _RESULTS / name, result)
        if result.status == "NOT_APPLICABLE":
            pytest.skip(result.reason)
        assert result.status == "PASS", result.reason
        for rule, status in result.rules.items():
            assert status in ("PASS", "UNOBSERVED"), f"{rule} is {status}: {result.rule_reasons[rule]}"
        return result

    return run


@pytest.fixture
def holdfast(request: pytest.FixtureRequest, holdfast_seed: int) -> Holdfast:
    """Certifies a system under what the mark `holdfast` of the test asks for."""
    fields: dict[str, object] = {}
    for mark in reversed([*request.node.iter_markers("holdfast")]):
        if mark.args:
            pytest.fail(f"@pytest.mark.holdfast{mark.args!r}: name its fields, such as rules='E2E-02'.", pytrace=False)
        fields |= mark.kwargs
    name = re.sub(r"[^\w.-]+", "-", request.node.nodeid.rpartition("/")[2]).strip("-")
    return Holdfast(fields, request.config.rootpath / _RESULTS / "tests" / name, holdfast_seed)


@pytest.fixture(scope="session")
def holdfast_seed(pytestconfig: pytest.Config) -> int:
    """First draw seed of the cases that draw their plans."""
    return int(pytestconfig.getoption("--holdfast-seed"))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("holdfast")
    group.addoption("--holdfast-seed", type=int, default=1, metavar="N", help="First draw seed.")
    group.addoption(
        _REQUIRED,
        action="append",
        default=[],
        metavar="TIER",
        help="Fail instead of skipping what needs it.",
    )
    group.addoption("--holdfast-kafka-bootstrap", default="", metavar="HOST:PORT", help="Brokers that exist.")
    group.addoption(
        "--holdfast-s3-endpoint",
        default="",
        metavar="URL",
        help="An object store that exists; its keys come from HOLDFAST_S3_ACCESS_KEY and HOLDFAST_S3_SECRET_KEY.",
    )
    group.addoption(
        "--holdfast-spark-master",
        default="",
        metavar="URL",
        help="A Spark cluster that exists, spark://HOST:PORT.",
    )
    group.addoption("--holdfast-image", action="append", default=[], metavar="NAME=IMAGE", help="An image of your own.")
    group.addoption(
        "--holdfast-allow-faults-on",
        action="append",
        default=[],
        metavar="NAME",
        help="Faults may act on this service.",
    )


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or config.getoption("tx", None):
        from holdfast.harness.groups import keep_together

        keep_together(config)
    config.addinivalue_line(
        "markers",
        "holdfast(rules, faults, runs, tier, records): what the fixture holdfast certifies a system under.",
    )
    config.addinivalue_line("markers", "tier(name): needs a tier of this machine: sim, process, spark or containers.")
    required = config.getoption(_REQUIRED)
    if required:
        from holdfast.harness.model.case import Tier

        for name in required:
            if name not in list(Tier):
                raise pytest.UsageError(f"{_REQUIRED} is {name!r}; allowed are {', '.join(Tier)}.")
    if any(config.getoption(name) for name in _SITE):
        from holdfast.harness.engine.errors import UsageError
        from holdfast.harness.engine.site.services import settle, site_of

        try:
            settle(site_of(*(config.getoption(name) for name in _SITE)))
        except UsageError as error:
            raise pytest.UsageError(str(error)) from error


def pytest_unconfigure() -> None:
    """No container outlives the session that needed it."""
    site = sys.modules.get("holdfast.harness.engine.site.services")
    if site is not None:
        site.close_services()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs a tier that this machine lacks is left out. Under xdist, the tests that share a session stay in one
    process; a group that a test names itself holds."""
    lacking = [(item, reason) for item in items if (reason := _lacked_by(item))]
    if lacking:
        _left_out.update(reason for _, reason in lacking)
        config.hook.pytest_deselected(items=[item for item, _ in lacking])
        without = {id(item) for item, _ in lacking}
        items[:] = [item for item in items if id(item) not in without]
    for item in items:
        shared = next((tier for tier in _SHARED if tier in _tiers_of(item)), None)
        if shared and config.pluginmanager.hasplugin("xdist") and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(shared))


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in _tiers_of(item):
        if name in item.config.getoption(_REQUIRED) and (reason := _tiers()[name]):
            pytest.fail(f"tier {name} is required, but {reason}", pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist reports to its controller what it left out."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_LEFT_OUT] = dict(_left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker collects all, so that of one is enough."""
    for reason, count in getattr(node, "workeroutput", {}).get(_LEFT_OUT, {}).items():
        _left_out[reason] = max(_left_out[reason], count)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _left_out:
        reasons = "; ".join(f"{count} because {reason}" for reason, count in _left_out.most_common(_REASONS))
        more = f"; and {len(_left_out) - _REASONS} more reasons" if len(_left_out) > _REASONS else ""
        tests = f"{_left_out.total()} {'test' if _left_out.total() == 1 else 'tests'}"
        terminalreporter.write_line(f"holdfast: left out {tests} of what does not apply ({reasons}{more}).")


def _lacked_by(item: pytest.Item) -> str:
    """Why a test cannot run on this machine; empty if it can, or fails as its tier is required."""
    required = item.config.getoption(_REQUIRED)
    for name in _tiers_of(item):
        if name not in required and (reason := _tiers()[name]):
            return f"tier {name} {reason}"
    return ""


def _tiers_of(item: pytest.Item) -> list[str]:
    """The tiers of our mark; a project may have a mark of the same name that means something else."""
    marked = [mark.args[0] for mark in item.iter_markers("tier") if mark.args]
    return [each for each in marked if each in _tiers()] if marked else []


def _tiers() -> dict[str, str]:
    """By tier, what this machine lacks for it; empty if it can run."""
    from holdfast.harness.engine.site.machine import lacking
    from holdfast.harness.model.case import Tier

    return {tier.value: lacking(tier) for tier in Tier}


def _write(folder: Path, result: CaseResult) -> None:
    import msgspec

    from holdfast.harness.engine.artefacts.files import write_atomically

    folder.mkdir(parents=True, exist_ok=True)
    name = f"{result.case.replace('/', '-')}-{result.tier}.json"
    write_atomically(folder / name, msgspec.json.encode(result))
