"""The guides of docs/ and README.md, followed to the letter: each file is written, each command is run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from holdfast.harness.cli.application import app
from holdfast.suites.selfcheck.night.steps import GUIDES as GUIDES_BY_NIGHT
from holdfast.suites.selfcheck.night.steps import LONG_GUIDES
from holdfast.suites.selfcheck.source_files import ROOT

GUIDES = sorted(path for path in (ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", *GUIDES]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
ENDS_WITH = re.compile(r"^(.*?)\s+# ends with (\d+)$")
QUOTED = re.compile(r"`(holdfast [^`]+)`")
IN_CONTAINERS = re.compile(r"^holdfast images build|--tier containers", re.MULTILINE)
"""What a guide that needs Docker runs."""
LIMIT_S = 3_600


class Command(NamedTuple):
    """A line of a shell, and the exit code that the guide promises."""

    line: str
    code: int


class NewFile(NamedTuple):
    """A file that the reader writes into the folder where he is."""

    name: str
    text: str


def steps(document: str) -> Iterator[Command | NewFile]:
    """What a reader does, in order."""
    for language, title, text in BLOCK.findall(document):
        if title:
            yield NewFile(title, text)
        elif language == "console":
            for line in text.splitlines():
                assert line.startswith("$ "), f"{line!r} is no command: write it with a dollar sign"
                found = ENDS_WITH.match(line[2:])
                yield Command(found[1], int(found[2])) if found else Command(line[2:].partition("  #")[0].strip(), 0)


def script(document: str, folder: Path) -> str:
    """All of it as one script of bash, which ends at the first step that does not come out as promised."""
    lines = ['promised() { local code=$?; [ $code = $1 ] || { echo "$2: exit code $code, not $1" >&2; exit 1; }; }']
    for number, step in enumerate(steps(document)):
        if isinstance(step, NewFile):
            stored = folder / f"{number}.file"
            stored.write_text(step.text)
            lines.append(f"cp {shlex.quote(str(stored))} {shlex.quote(step.name)}")
        else:
            lines += [step.line, f"promised {step.code} {shlex.quote(step.line)}"]
    return "\n".join(lines)


def test_steps_are_found_in_order() -> None:
    document = (
        'A\n```console\n$ one  # why\n$ two  # ends with 1\n```\n```python title="a.py"\nx\n```\n```\n$ no\n```\n'
    )
    assert list(steps(document)) == [Command("one", 0), Command("two", 1), NewFile("a.py", "x\n")]


def test_a_command_that_ends_otherwise_is_noticed(tmp_path: Path) -> None:
    for line, code in (("false", 1), ("true", 0), ("true  # ends with 1", 1), ("false  # ends with 1", 0)):
        text = script(f"```console\n$ {line}\n$ echo on\n```\n", tmp_path)
        assert subprocess.run(["bash", "-c", text], capture_output=True).returncode == code


@cache
def whole_command() -> Any:
    return get_command(app)


def unknown_in(line: str) -> str | None:
    """The first word of a command of ours that does not exist; None: all do."""
    command = whole_command()
    words = iter(line.split()[1:])
    for word in words:
        if word.startswith("--"):
            options = {name: each for each in command.params for name in (*each.opts, *each.secondary_opts)}
            option = options.get(word.partition("=")[0])
            if option is None:
                return word
            if isinstance(command, TyperGroup) and not option.is_flag:
                next(words, None)  # Its value is no command.
        elif isinstance(command, TyperGroup):
            if word not in command.commands:
                return word
            command = command.commands[word]
    return None


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert unknown_in("holdfast certify reference --tier sim") is None
    assert unknown_in("holdfast --limits 5 judge RUN") is None
    assert unknown_in("holdfast certfy reference") == "certfy"
    assert unknown_in("holdfast --limit 5 judge RUN") == "--limit"
    assert unknown_in("holdfast job stop --savepoint-way X") == "--savepoint-way"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    document = page.read_text()
    lines = QUOTED.findall(document) + [each.line for each in steps(document) if isinstance(each, Command)]
    named = [line for line in lines if line.startswith("holdfast ")]
    assert [line for line in named if unknown_in(line)] == []


def lines_of(guide: Path) -> list[str]:
    """Its commands."""
    return [each.line for each in steps(guide.read_text()) if isinstance(each, Command)]


FOLLOWED = [
    pytest.param(
        guide,
        id=guide.stem,
        marks=pytest.mark.tier("containers") if IN_CONTAINERS.search("\n".join(lines_of(guide))) else (),
    )
    for guide in GUIDES
    if lines_of(guide)
]


@pytest.mark.parametrize("guide", FOLLOWED)
def test_a_guide_whose_commands_run_installs_the_package(guide: Path) -> None:
    """A fresh environment has no `holdfast`, so the nightly test could not pass otherwise."""
    assert any(line.startswith("pip install ") for line in lines_of(guide))


def test_each_guide_is_in_one_night_or_known_to_be_too_long() -> None:
    turns = [name for names in GUIDES_BY_NIGHT for name in names.split(" or ")]
    readme = ["four_lines", "ci_passes"]
    assert sorted([*turns, *LONG_GUIDES]) == sorted([*readme, *(each.stem for each in GUIDES if lines_of(each))])
    assert all(any(each in name for name in globals()) for each in readme)


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize("guide", FOLLOWED)
def test_a_guide_is_followed_to_the_letter(guide: Path, tmp_path: Path) -> None:
    """Beside a fresh clone, in an empty folder, with a home of its own, and without anything of this environment."""
    clone, work, files, home = (tmp_path / name for name in ("holdfast", "work", "files", "home"))
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True, timeout=LIMIT_S)
    for each in (work, files, home):
        each.mkdir()
    present = os.environ  # noqa: TID251 - those of the user
    environment = {
        key: value for key, value in present.items() if not key.startswith(("VIRTUAL_ENV", "PYTHON", "XDG_"))
    }
    tools = [each for each in present["PATH"].split(os.pathsep) if not Path(each).is_relative_to(sys.prefix)]
    python = Path(os.path.realpath(sys.executable)).parent
    environment |= {"PATH": os.pathsep.join([str(python), *tools]), "HOME": str(home)}
    done = subprocess.run(
        ["bash", "-c", script(guide.read_text(), files)],
        cwd=work, env=environment, capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


README_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STAMP = re.compile(r"\d{4}-\d\d-\d\d-\d{6}")
CLONED = "git clone"
README_LIMIT_S = 600


def blocks(document: str, language: str) -> list[str]:
    """The blocks of code in a language, in order."""
    return [text for named, text in README_BLOCK.findall(document) if named == language]


def unseen(pasted: str, output: str) -> list[str]:
    """Lines of a pasted output that the output does not have; where lines break and when it ran do not count."""
    whole = STAMP.sub("STAMP", " ".join(output.split()))
    lines = (STAMP.sub("STAMP", " ".join(line.split())) for line in pasted.splitlines())
    return [line for line in lines if line not in whole]


def test_a_pasted_line_that_is_not_printed_is_noticed() -> None:
    printed = "REFUSED  reference\n  next  holdfast replay\n  out/2026-11-28-205544/run\n"
    assert unseen("REFUSED  reference\n\n  next  holdfast replay out/2026-01-01-000000/run\n", printed) == []
    assert unseen("REFUSED  other\n", printed) == ["REFUSED other"]


def script_of(text: str) -> str:
    """Lines of the page as a script, in which the address of the project is that of this checkout."""
    assert text.count(CLONED) == 1
    return "\n".join(line.removeprefix("$ ") for line in text.splitlines()).replace("REPOSITORY", str(ROOT))


def run(script: str, shell: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script without anything of the environment that this test runs in but the interpreter below it."""
    base = Path(os.path.realpath(sys.executable)).parent
    present = os.environ.items()  # noqa: TID251 - those of the user
    environment = {key: value for key, value in present if not key.startswith(("VIRTUAL_ENV", "PYTHON"))}
    environment |= {"PATH": f"{base}:/usr/local/bin:/usr/bin:/bin", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(
        [shell, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=README_LIMIT_S
    )


@pytest.mark.nightly
@pytest.mark.timeout(README_LIMIT_S)
def test_four_lines_lead_from_the_clone_to_the_refusal_that_is_pasted(tmp_path: Path) -> None:
    document = (ROOT / "README.md").read_text()
    lines = next(text for text in blocks(document, "console") if CLONED in text)
    assert len(lines.splitlines()) == 4
    done = run(script_of(lines), "bash", tmp_path)
    assert done.returncode == 1, done.stderr[-4000:]
    (pasted,) = blocks(document, "text")
    assert unseen(pasted, done.stdout) == []


@pytest.mark.nightly
@pytest.mark.timeout(README_LIMIT_S)
@pytest.mark.parametrize(("sink", "code"), [("my_sink:Sink", 0), ("wrong_my_sink:WrongSink", 1)])
def test_a_ci_passes_a_right_sink_and_fails_a_wrong_one(sink: str, code: int, tmp_path: Path) -> None:
    (lines,) = blocks((ROOT / "README.md").read_text(), "sh")
    assert len(lines.splitlines()) <= 12
    assert lines.count("my_sink:Sink") == 1
    command = [sys.executable, "-m", "holdfast.harness.cli", "new", "sink", "my_sink"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=README_LIMIT_S)
    done = run(script_of(lines.replace("my_sink:Sink", sink)), "sh", tmp_path / "my_sink")
    assert done.returncode == code, done.stderr[-4000:]
    summary = (tmp_path / "my_sink/certificate/latest/summary.md").read_text()
    assert done.stdout.endswith(summary)
