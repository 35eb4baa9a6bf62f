"""Nothing that an installed user needs: options, marks and fixtures come from the plugin, `holdfast.harness.plugin`.

A folder of tests runs on all processors where pytest-xdist is installed, in three processes for each two of them;
`-n 0` keeps it in one process. `--tier` chooses tests by what they need. What is left to `-m nightly` is counted in one
line at the end.

A test file that imports what only an extra brings is skipped where the extra is not installed, by name and with what to
install. Where `--holdfast-require-tier` names the extra (`spark`, `containers`), as in `.ci/run`, that is an error.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How fast examples are drawn says something of the machine, not of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

EXTRAS = {
    "spark": ("pandas", "py4j", "pyspark"),
    "containers": (
        "boto3", "botocore", "confluent_kafka", "docker", "minio", "requests", "testcontainers", "toxiproxy", "urllib3",
    ),
}  # fmt: skip
"""By extra of pyproject.toml, what can be imported with it alone."""
REAL_TIERS = frozenset({"process", "spark", "containers"})
REAL_LIMIT_S = 1_500
"""For a test of such a tier, where a run that missed is replaced; a hang still ends. Others have that of pyproject."""
_SKIPPED = pytest.StashKey[dict[str, list[str]]]()
_NIGHTLY = pytest.StashKey[int]()
_LEFT_OUT = "left_out"
"""In what a worker of xdist hands to its controller."""
_DAY = "not nightly"
"""The selection of pyproject.toml."""


class TestFile(pytest.Module):
    """A file of tests, skipped as a whole if it needs an extra that is not installed."""

    __test__ = False

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            return super().collect()
        except self.CollectError as error:
            missing = getattr(error.__cause__, "name", None) or ""
            extra = next((name for name, modules in EXTRAS.items() if missing.partition(".")[0] in modules), "")
            if not extra or extra in self.config.getoption("--holdfast-require-tier"):
                raise
            self.config.stash.setdefault(_SKIPPED, {}).setdefault(extra, []).append(self.nodeid)
            pytest.skip(f"{missing} is not installed: pip install -e '.[{extra}]'", allow_module_level=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests are no garbage: each collection of it, now or later, of which tests ask for many, would walk
    over them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("holdfast").addoption(
        "--tier", action="append", default=[], metavar="TIER", help="Only tests that need this tier; may be repeated."
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Before pytest-xdist reads its options; its workers come here, too, and spread nothing further."""
    option = config.option
    if hasattr(config, "workerinput") or option.collectonly or not config.pluginmanager.hasplugin("xdist"):
        return
    chosen = option.numprocesses is not None or option.dist != "no" or option.tx
    if not chosen and not option.usepdb and any(Path(each).is_dir() for each in config.args):
        option.numprocesses = "logical"  # What xdist is to count.
        processors = config.hook.pytest_xdist_auto_num_workers(config=config)
        option.numprocesses = processors + processors // 2  # Many tests wait for processes of their own.
    if option.numprocesses and option.dist == "no":
        option.dist = "loadgroup"  # Tests that share a session of Spark stay in one process.


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    return TestFile.from_parent(parent, path=module_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Before pytest leaves out what is nightly."""
    if wanted := set(config.getoption("--tier")):
        config.hook.pytest_deselected(items=[item for item in items if not wanted & _tiers_of(item)])
        items[:] = [item for item in items if wanted & _tiers_of(item)]
    counted: Counter[str] = Counter()
    for item in items:
        share = item.get_closest_marker("share")
        if share and not item.get_closest_marker("nightly"):
            test = item.nodeid.partition("[")[0]
            if counted[test] % share.args[0]:
                item.add_marker(pytest.mark.nightly)
            counted[test] += 1
        if REAL_TIERS & _tiers_of(item) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(REAL_LIMIT_S))
    if config.option.markexpr == _DAY:
        config.stash[_NIGHTLY] = sum(1 for item in items if item.get_closest_marker("nightly") and _can_run(item))


def _tiers_of(item: pytest.Item) -> set[str]:
    return {str(mark.args[0]) for mark in item.iter_markers("tier")}


def _can_run(item: pytest.Item) -> bool:
    """Whether this machine has the tiers of a test; if not, the plugin leaves it out, nightly or not."""
    from holdfast.harness.engine.site.machine import lacking
    from holdfast.harness.model.case import Tier

    return all(name in list(Tier) and not lacking(Tier(name)) for name in _tiers_of(item))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of xdist, which collects all tests, tells its controller, which collects none."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        stash = session.config.stash
        output[_LEFT_OUT] = stash.get(_NIGHTLY, 0), stash.get(_SKIPPED, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker collects all, so that of one is enough."""
    counts = getattr(node, "workeroutput", {}).get(_LEFT_OUT)
    if counts is not None:
        node.config.stash[_NIGHTLY], node.config.stash[_SKIPPED] = counts


def pytest_report_header() -> list[str]:
    missing = (extra for extra, modules in EXTRAS.items() if not all(find_spec(module) for module in modules))
    return [f"extra {each} is not installed: test files that need it are skipped" for each in missing]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for extra, files in config.stash.get(_SKIPPED, {}).items():
        terminalreporter.write_line(
            f"{len(files)} test files need the extra {extra}, which is not installed (pip install -e '.[{extra}]'): "
            f"{', '.join(files)}",
            yellow=True,
        )
    if left := config.stash.get(_NIGHTLY, 0):
        terminalreporter.write_line(f"{left} {'test is' if left == 1 else 'tests are'} left to -m nightly.")
