"""`holdfast new`: what it writes is certified as it stands, and its wrong twin is refuted by the rule that it names."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import metadata
from pathlib import Path

import pytest

from holdfast.fixtures.systems.json_lines.introduction import Introduction
from holdfast.fixtures.systems.json_lines.messages import Claim, Offer
from holdfast.fixtures.systems.json_lines.system import JsonLines
from holdfast.harness import cli
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.model.case import Tier, Window
from holdfast.harness.model.command_line import DISTRIBUTION
from holdfast.harness.model.journal import Status, Title
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.certify import scaffolds
from holdfast.suites.certify.scaffolds.programs import LANGUAGES
from holdfast.suites.conformance.programs import UNHEARD
from holdfast.suites.selfcheck.certify.written import certified, rule_of, statuses, written
from holdfast.suites.selfcheck.replaced_runs import counting_run, named_clauses

PARTS = {
    "checkpoint-storage": "Storage",
    "file-system": "Files",
    "restart-strategy": "Strategy",
    "sink": "Sink",
    "source": "Source",
    "state-backend": "Backend",
}
LONG = pytest.mark.nightly
ALONE = ("--tier", "sim")
"""The kit, and no runtime."""
QUICK = ("restart-strategy", "sink", "source")
SLOW = ("checkpoint-storage", "file-system")


@pytest.mark.parametrize("kind", [*QUICK, "state-backend", *(pytest.param(kind, marks=LONG) for kind in SLOW)])
@pytest.mark.share(4)
def test_a_right_one_is_certified(kind: str, tmp_path: Path) -> None:
    code, journal = certified(written(kind, tmp_path), f"--{kind}", f"mine:{PARTS[kind]}", *ALONE)
    assert (code, journal.certificate.title) == (0, Title.CERTIFIED)
    assert not journal.certificate.missing


@pytest.mark.tier("process")
@LONG
def test_a_right_source_is_certified_in_the_runtime_too(tmp_path: Path) -> None:
    code, journal = certified(written("source", tmp_path), "--source", "mine:Source")
    assert (code, journal.certificate.title) == (0, Title.CERTIFIED)
    assert {tier.tier for tier in journal.tiers if tier.runs} == {Tier.SIM, Tier.PROCESS}


@pytest.mark.parametrize("kind", [*QUICK, "state-backend", *SLOW])
@pytest.mark.share(6)
def test_its_wrong_twin_is_refuted_by_the_rule_that_it_names(kind: str, tmp_path: Path) -> None:
    folder = written(kind, tmp_path)
    rule = rule_of(folder / "wrong_mine.py")
    code, journal = certified(folder, f"--{kind}", f"wrong_mine:Wrong{PARTS[kind]}", "--rule", rule, *ALONE)
    assert (code, journal.certificate.title) == (1, Title.REFUSED)
    assert statuses(journal, Status.FAIL) == {rule}
    code, journal = certified(folder, f"--{kind}", f"mine:{PARTS[kind]}", "--rule", rule, *ALONE)
    assert (code, statuses(journal, Status.PASS)) == (0, {rule})


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind == "restart-strategy" else LONG) for kind in PARTS]
)
def test_its_test_file_passes(kind: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=written(kind, tmp_path), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert re.search(r"\d+ passed", ended.stdout)


@pytest.mark.parametrize("kind", registry.scaffolds())
def test_nothing_of_a_template_is_left(kind: str, tmp_path: Path) -> None:
    files = [each for each in written(kind, tmp_path).rglob("*") if each.is_file()]
    assert {"README.md", "holdfast.yml"} <= {each.name for each in files}
    for file in files:
        text = file.read_text()
        assert "scaffolds" not in text
        assert not re.search(r"@[A-Z]+@", text), text


def refused(arguments: Sequence[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["new", *arguments]) == cli.WRONG_USAGE
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    refused(["sink", "mine", "--out", str(tmp_path / "mine")], "is there, and nothing is overwritten", capsys)
    assert list(tmp_path.rglob("*")) == [tmp_path / "mine"]


@pytest.mark.parametrize("name", ["json", "My", "my-sink", "1st", "holdfast", "", "class", "pytest"])
def test_a_name_that_no_module_of_ones_own_can_have_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(["sink", name, "--out", str(tmp_path / "new")], "cannot be the name of a module", capsys)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    refused(["sofa", "mine"], "unknown scaffold 'sofa'; known: checkpoint-storage", capsys)


def test_what_breaks_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(file: Path, text: str) -> int:
        raise OSError(28, "No space left on device", str(file))

    monkeypatch.setattr(Path, "write_text", no_room)
    assert cli.execute(["new", "sink", "mine", "--out", str(tmp_path / "mine")]) == cli.HARNESS_ERROR
    assert list(tmp_path.iterdir()) == []


OLDEST = metadata(DISTRIBUTION)["Requires-Python"].removeprefix(">=")
PYTHON = re.compile(r'python-version: "([^"]*)"')


@pytest.mark.parametrize("kind", registry.scaffolds())
def test_what_new_writes(kind: str, tmp_path: Path) -> None:
    [file] = written(kind, tmp_path).glob(".github/workflows/*.yml")
    assert PYTHON.findall(file.read_text()) == [OLDEST]


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
    assert "EXACT/row-wrong" in named_clauses(run)
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
