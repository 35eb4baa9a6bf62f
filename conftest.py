"""Nothing that an installed user needs: options, marks and fixtures come from the plugin, `holdfast.harness.plugin`.

A test file that imports what only an extra brings is skipped where the extra is not installed, by name and with what to
install. Where `--require-tier` names the extra (`spark`, `containers`), as in `.ci/run`, that is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

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


class TestFile(pytest.Module):
    """A file of tests, skipped as a whole if it needs an extra that is not installed."""

    __test__ = False

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            return super().collect()
        except self.CollectError as error:
            missing = getattr(error.__cause__, "name", None) or ""
            extra = next((name for name, modules in EXTRAS.items() if missing.partition(".")[0] in modules), "")
            if not extra or extra in self.config.getoption("--require-tier"):
                raise
            self.config.stash.setdefault(_SKIPPED, {}).setdefault(extra, []).append(self.nodeid)
            pytest.skip(f"{missing} is not installed: pip install -e '.[{extra}]'", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    return TestFile.from_parent(parent, path=module_path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest leaves out what is nightly."""
    counted: Counter[str] = Counter()
    for item in items:
        share = item.get_closest_marker("share")
        if share and not item.get_closest_marker("nightly"):
            test = item.nodeid.partition("[")[0]
            if counted[test] % share.args[0]:
                item.add_marker(pytest.mark.nightly)
            counted[test] += 1
        real = any(mark.args[0] in REAL_TIERS for mark in item.iter_markers("tier"))
        if real and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(REAL_LIMIT_S))


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
