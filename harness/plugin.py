"""The pytest plugin (entry point `pytest11`): the registry of cases as tests, and tiers that are skipped with a reason.

    from holdfast.harness.plugin import case_parameters

    @pytest.mark.parametrize(("case", "tier"), case_parameters("reference"))
    def test_case(case, tier, run_case):
        run_case("reference", case, tier)

Every pytest run loads it where Holdfast is installed, so it imports the rest of the package only when a test needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from holdfast.harness.model.case import Case, Tier
    from holdfast.harness.model.journal import CaseResult

RunCase = Callable[["str", "Case", "Tier"], "CaseResult"]
_RESULTS = Path("holdfast-out") / "pytest"
_SHARED = ("containers", "spark")
"""Tiers whose sessions take seconds to come up and gigabytes to keep."""
_SITE = ("--kafka-bootstrap", "--s3-endpoint", "--spark-master", "--image", "--allow-faults-on")


def case_parameters(system: str, wanted: Callable[[Case], bool] = lambda case: True) -> list[object]:
    """(case, tier) for every wanted case of a system, each with the mark of its tier."""
    from holdfast.harness.engine.cases.swarm_case import cases_for
    from holdfast.harness.engine.site import registry

    return [
        pytest.param(case, tier, id=f"{case.id}-{tier}", marks=pytest.mark.tier(tier.value))
        for case in cases_for(registry.system(system))
        if wanted(case)
        for tier in case.tiers
    ]


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


@pytest.fixture(scope="session")
def holdfast_seed(pytestconfig: pytest.Config) -> int:
    """First draw seed of the cases that draw their plans."""
    return int(pytestconfig.getoption("--holdfast-seed"))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("holdfast")
    group.addoption("--holdfast-seed", type=int, default=1, metavar="N", help="First draw seed.")
    group.addoption(
        "--require-tier", action="append", default=[], metavar="TIER", help="Fail instead of skipping what needs it."
    )
    group.addoption("--kafka-bootstrap", default="", metavar="HOST:PORT", help="Brokers that exist.")
    group.addoption(
        "--s3-endpoint",
        default="",
        metavar="URL",
        help="An object store that exists; its keys come from HOLDFAST_S3_ACCESS_KEY and HOLDFAST_S3_SECRET_KEY.",
    )
    group.addoption("--spark-master", default="", metavar="URL", help="A Spark cluster that exists, spark://HOST:PORT.")
    group.addoption("--image", action="append", default=[], metavar="NAME=IMAGE", help="An image of your own.")
    group.addoption(
        "--allow-faults-on", action="append", default=[], metavar="NAME", help="Faults may act on this service."
    )


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput") or config.getoption("tx", None):
        from holdfast.harness.groups import keep_together

        keep_together(config)
    config.addinivalue_line("markers", "tier(name): needs a tier of this machine: sim, process, spark or containers.")
    required = config.getoption("--require-tier")
    if required:
        from holdfast.harness.model.case import Tier

        for name in required:
            if name not in list(Tier):
                raise pytest.UsageError(f"--require-tier is {name!r}; allowed are {', '.join(Tier)}.")
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


def pytest_report_header(config: pytest.Config) -> str:
    return f"holdfast: {', '.join(f'{name} ({reason})' if reason else name for name, reason in _tiers().items())}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under xdist, the tests that share a session stay in one process; a group that a test names itself holds."""
    for item in items:
        shared = next((tier for tier in _SHARED if tier in _tiers_of(item)), None)
        if shared and item.config.pluginmanager.hasplugin("xdist") and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(shared))


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in _tiers_of(item):
        reason = _tiers().get(name, "is no tier")
        if not reason:
            continue
        if name in item.config.getoption("--require-tier"):
            pytest.fail(f"tier {name} is required, but {reason}", pytrace=False)
        pytest.skip(f"tier {name} {reason}")


def _tiers_of(item: pytest.Item) -> list[str]:
    return [str(mark.args[0]) for mark in item.iter_markers("tier")]


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
