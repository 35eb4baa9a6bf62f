"""`holdfast new program` and `new pipeline`: the right one passes; its twin is refuted by the rule that it names."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Status, Title
from holdfast.suites.certify.scaffolds.programs import LANGUAGES
from holdfast.suites.selfcheck.certify.written import certified, rule_of, statuses, written


def program(folder: Path, language: str, name: str) -> str:
    """Built where that is needed; as `certify` takes it."""
    chosen = LANGUAGES[language]
    if chosen.build:
        subprocess.run(chosen.build.format(name=name).split(), cwd=folder, check=True)
    return f"json-lines+./{name}{'' if chosen.build else chosen.suffix}"


def with_tool(language: str, tool: str) -> object:
    marks = [pytest.mark.nightly, pytest.mark.skipif(shutil.which(tool) is None, reason=f"needs {tool} on the PATH")]
    return pytest.param(language, marks=marks)


@pytest.mark.parametrize("language", [with_tool("python", "python3"), with_tool("node", "node"), with_tool("go", "go")])
def test_a_program_passes_and_its_twin_counts_twice(language: str, tmp_path: Path) -> None:
    folder = written("program", tmp_path, "--lang", language)
    rule = rule_of(folder / f"wrong_mine{LANGUAGES[language].suffix}")
    code, journal = certified(folder, program(folder, language, "mine"), "--rule", rule)
    assert code == 0
    assert rule in statuses(journal, Status.PASS)
    code, journal = certified(folder, program(folder, language, "wrong_mine"), "--rule", rule)
    assert (code, journal.certificate.title) == (1, Title.REFUSED)
    assert rule in statuses(journal, Status.FAIL)


@pytest.mark.nightly
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(bool(lacking(Tier.SPARK)), reason="needs Spark")
@pytest.mark.timeout(1_200)
def test_a_pipeline_passes_and_its_twin_writes_twice(tmp_path: Path) -> None:
    folder = written("pipeline", tmp_path)
    rule = rule_of(folder / "wrong_mine.py")
    code, journal = certified(folder, "spark+./mine.py", "--tier", "spark", "--rule", rule)
    assert code == 0
    assert rule in statuses(journal, Status.PASS)
    code, journal = certified(folder, "spark+./wrong_mine.py", "--tier", "spark", "--rule", rule)
    assert (code, journal.certificate.title) == (1, Title.REFUSED)
    assert rule in statuses(journal, Status.FAIL)
