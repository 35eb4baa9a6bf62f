"""`holdfast new program` and `new pipeline`: the right one passes; its twin is refuted by the rule that it names."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from holdfast.fixtures.systems.json_lines.introduction import Introduction
from holdfast.fixtures.systems.json_lines.messages import Claim, Offer
from holdfast.fixtures.systems.json_lines.system import JsonLines
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.model.window import Window
from holdfast.suites.certify import scaffolds
from holdfast.suites.certify.scaffolds.languages import LANGUAGES
from holdfast.suites.conformance.programs import UNHEARD
from holdfast.suites.selfcheck.certify.written import rule_of, written
from holdfast.suites.selfcheck.replaced_runs import counting_run

TOOLS = {"python": "python3", "node": "node", "go": "go", "java": "javac", "rust": "cargo"}
SENT_AGAIN = (Window.RESTORED_STATE, Window.SENT_AGAIN, Window.SENT_WITH_NEW)


def program(folder: Path, language: str, name: str) -> str:
    """Built where that is needed; as `certify` takes it."""
    chosen = LANGUAGES[language]
    for command in chosen.build:
        subprocess.run(command.format(name=name).split(), cwd=folder, check=True, capture_output=True)
    return f"json-lines+./{chosen.file(name)}"


def with_tools(*languages: str) -> pytest.MarkDecorator:
    """Each language, where its tool is found."""
    return pytest.mark.parametrize(
        "language",
        [
            pytest.param(
                each, marks=pytest.mark.skipif(shutil.which(TOOLS[each]) is None, reason=f"needs {TOOLS[each]}")
            )
            for each in languages
        ],
    )


@with_tools("python", "node", "go", "java")
@pytest.mark.share(4)
def test_a_twin_counts_twice_under_one_plan(language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin is right up to the kills: what it shares with the right one is spoken well in each language."""
    folder = written("program", tmp_path, "--lang", language)
    monkeypatch.chdir(folder)
    system = registry.system(program(folder, language, "wrong_mine"))
    assert isinstance(system, JsonLines)
    assert system.introduction == Introduction(2, Claim.EXACTLY_ONCE, frozenset({Offer.CHECKPOINTS}))
    (tmp_path / "run").mkdir()
    run = counting_run(UNHEARD, system, Tier.PROCESS, tmp_path / "run", *SENT_AGAIN)
    assert "EXACT/row-wrong" in {f"{each.oracle}/{wrong.clause}" for each in run.verdicts for wrong in each.anomalies}
    assert not [each for each in run.verdicts if each.oracle == "RESUME" and each.outcome is not Outcome.PASS]


LANGUAGES_WITH_TOOLS = [each for each in TOOLS if shutil.which(TOOLS[each])]
SPARK = (pytest.mark.xdist_group("spark"), pytest.mark.skipif(bool(lacking(Tier.SPARK)), reason="needs Spark"))


@pytest.mark.parametrize("kind", ["pipeline", "program"])
def test_its_tests_are_of_the_rule_that_the_twin_names(kind: str, tmp_path: Path) -> None:
    folder = written(kind, tmp_path)
    assert f'rules="{rule_of(folder / "wrong_mine.py")}"' in (folder / "test_mine.py").read_text()


@pytest.mark.nightly
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *(pytest.param("program", ("--lang", each), id=each) for each in LANGUAGES_WITH_TOOLS),
        pytest.param("system", (), id="system"),
        pytest.param("pipeline", (), id="pipeline", marks=SPARK),
    ],
)
def test_all_that_its_ci_file_runs_ends_well(kind: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """The twin is refused by one of its tests."""
    folder = written(kind, tmp_path, *options)
    [workflow] = folder.glob(".github/workflows/*.yml")
    commands = re.findall(r"^      - run: (.*)$", workflow.read_text(), re.MULTILINE)
    run = [command for command in commands if not command.startswith("pip install")]
    assert len(run) == len(commands) - 1
    for command in run:
        ended = subprocess.run(["sh", "-euc", command], cwd=folder, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
        assert command != "pytest" or "2 passed" in ended.stdout


def test_a_wheel_takes_along_every_file_of_a_scaffold() -> None:
    root = Path(scaffolds.__file__).parents[3]
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    endings = {pattern.removeprefix("*") for pattern in settings["package-data"]["*"]} | {".py", ".txt", ".yml"}
    folder = Path(scaffolds.__file__).parent
    files = [each for each in folder.rglob("*.*") if each.is_file() and "__pycache__" not in each.parts]
    assert [each.name for each in files if each.suffix not in endings] == []
    assert {each.parent.name for each in files if each.suffix in (".txt", ".yml")} == {"templates"}
