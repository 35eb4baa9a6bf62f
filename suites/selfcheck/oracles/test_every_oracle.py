"""What holds of every oracle: where it lies, where options are read and violations reported, and what it leaves."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from holdfast.harness import oracles
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site.registry import system, toolbox
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.history import History
from holdfast.harness.spi.oracle import titles_of
from holdfast.suites import spec
from holdfast.suites.selfcheck.source_files import source_files

HOME = Path(oracles.__file__).parent
README = HOME.parent / "README.md"
AREAS = {each.stem for each in Path(spec.__file__).parent.glob("*.toml")}
BESIDE = {"liveness", "output"}
THE_READER = "shared/stated_options.py"
DIRECTLY = re.compile(r"plan\.options\b")
THE_COLLECTOR = "findings.py"
SILENT = ("_trace.py", "_model.py")
"""How the files end that record or predict."""
FOR_ALL = ("ledger", "shared")
"""The folders of no area."""

# --- where it lies ---


def test_every_oracle_lies_in_an_area_of_the_rules() -> None:
    folders = {type(each).__module__.split(".")[-2] for each in oracles.ORACLES}
    assert folders - AREAS == BESIDE


def test_every_folder_of_the_oracles_holds_one_or_serves_all() -> None:
    folders = {each.parent.name for each in HOME.glob("*/__init__.py")}
    assert folders - {type(each).__module__.split(".")[-2] for each in oracles.ORACLES} == {*FOR_ALL}


def test_the_readme_lists_every_oracle_by_area_name_and_title() -> None:
    listed = re.findall(r"^\| `([a-z_]+)` \| `([A-Z]+)` \| ([a-z -]+) \|$", README.read_text(encoding="utf-8"), re.M)
    titles = titles_of(oracles.ORACLES)
    assert listed == sorted(
        (type(each).__module__.split(".")[-2], each.name, titles[each.name]) for each in oracles.ORACLES
    )


# --- options can be stated in files and by calls, in two spellings, and not in `Plan.options` alone ---


def test_every_oracle_reads_options_wherever_they_are_stated() -> None:
    sources = dict(source_files(below=HOME))
    assert DIRECTLY.search(sources.pop(THE_READER))
    assert [name for name, text in sources.items() if DIRECTLY.search(text)] == []


# --- traces record and models predict: only an oracle, or a file that decides its clauses, reports violations ---


def reporters(sources: Mapping[str, str]) -> set[str]:
    """The files, by the source of each, in which a violation is or can be reported."""
    return {
        name
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Attribute) and node.attr == "violated")
        or (isinstance(node, ast.Name) and node.id == "Findings")
    }


def strays(sources: Mapping[str, str]) -> set[str]:
    """Those of them that must not report violations: traces, models, and what belongs to no area."""
    return {
        name
        for name in reporters(sources)
        if name != THE_COLLECTOR and (name.endswith(SILENT) or name.partition("/")[0] in FOR_ALL or "/" not in name)
    }


def test_only_oracles_and_their_clauses_report_violations() -> None:
    sources = dict(source_files(below=HOME))
    assert any(name.endswith(SILENT) for name in sources)
    assert "barriers/cut.py" in reporters(sources)
    assert strays(sources) == set()


@pytest.mark.parametrize(
    ("name", "source", "stray"),
    [
        ("barriers/channel_trace.py", "self.findings.violated('clause', 'message')", True),
        ("barriers/channel_trace.py", "def judge(findings: Findings) -> None: ...", True),
        ("barriers/channel_trace.py", "replay(history, handlers)", False),
        ("coordinator/coordinator_model.py", "findings.violated('clause', 'message')", True),
        ("shared/stalls.py", "findings.violated('clause', 'message')", True),
        ("barriers/blocking.py", "findings.violated('clause', 'message')", False),
    ],
)
def test_a_trace_that_reports_a_violation_is_found(name: str, source: str, stray: bool) -> None:
    assert strays({name: source}) == ({name} if stray else set())


# --- what judges a run goes with it: what held itself would wait for the collector, as costly as an oracle ---


@pytest.fixture
def _no_collection_in_between() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collection_in_between")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_oracle_leaves_anything_that_holds_itself(seed: int) -> None:
    run = run_plan(draw_plan(seed), system("reference"), toolbox()).history
    while gc.collect():  # A second time where generators of the run had to be ended first.
        pass
    left = {}
    for oracle in oracles.ORACLES:
        history = History(run.plan, run.claims, run.inputs, run.output, run.events, run.end)
        if oracle.applies(history):
            oracle.judge(history)
        del history
        left[oracle.name] = gc.collect(0)  # What is older than the judging is not looked at, which would take long.
    assert {name for name, objects in left.items() if objects} == set()
