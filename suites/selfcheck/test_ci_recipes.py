"""The recipes of docs/ci-recipes.md: their shell is run to the letter, with stand-ins for what takes minutes.

A stand-in notes its words, and leaves behind what the real command does. Words of our own command are then read by its
own parser.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from holdfast.harness.cli.application import app
from holdfast.harness.model.command_line import DISTRIBUTION
from holdfast.suites.selfcheck.source_files import ROOT
from holdfast.suites.selfcheck.test_guides import NewFile, steps

PAGE = ROOT / "docs/ci-recipes.md"
OLDEST = metadata(DISTRIBUTION)["Requires-Python"].removeprefix(">=")
LIMIT_S = 60
STAND_IN = f"""\
#!{sys.executable}
import json, os, shutil, sys
from pathlib import Path

name, words = Path(sys.argv[0]).name, sys.argv[1:]
with open(os.environ["NOTED"], "a") as noted:
    noted.write(json.dumps([name, *words]) + "\\n")
if name == "git":
    Path(words[-1]).mkdir()
elif name == "python3":
    folder = Path(words[-1], "bin")
    folder.mkdir(parents=True, exist_ok=True)
    for each in ("pip", "holdfast"):
        shutil.copy(sys.argv[0], folder / each)
elif name == "holdfast":
    out = Path(words[words.index("--out") + 1])
    report = out / "2026-11-28"
    report.mkdir(parents=True, exist_ok=True)
    for each in ("summary.md", "junit.xml", "report.html"):
        (report / each).write_text("new")
    (out / "latest").unlink(missing_ok=True)
    (out / "latest").symlink_to(report.name)
    if words[0] == "nightly":
        (out / "trend.html").write_text("new")
    sys.exit(int(os.environ["CODE"]))
"""
GROOVY = re.compile(r"(?:sh|script:) (?:'''(.*?)'''|'([^']*)')", re.DOTALL)


class Recipe(NamedTuple):
    """A job: its shell, block by block, what runs after a failure, too, and the files that it hands over."""

    blocks: Sequence[str]
    always: Sequence[str]
    kept: Sequence[str]
    environment: Mapping[str, str]


def files() -> dict[str, str]:
    """The blocks of the page that have a name."""
    return {each.name: each.text for each in steps(PAGE.read_text()) if isinstance(each, NewFile)}


def of_github(text: str) -> Iterator[tuple[str, Recipe]]:
    """The jobs of a workflow."""
    workflow = pytest.importorskip("yaml").safe_load(text)
    for name, job in workflow["jobs"].items():
        run = [step for step in job["steps"] if "run" in step]
        kept = [
            step["with"]["path"] for step in job["steps"] if re.search("upload-artifact|save", step.get("uses", ""))
        ]
        yield (
            name,
            Recipe(
                [step["run"] for step in run if "if" not in step],
                [step["run"] for step in run if step.get("if") == "always()"],
                kept,
                workflow["env"],
            ),
        )


def of_gitlab(text: str) -> Iterator[tuple[str, Recipe]]:
    """The jobs of a pipeline."""
    pipeline = pytest.importorskip("yaml").safe_load(text)
    for name, job in pipeline.items():
        if "extends" not in job:
            continue
        whole = pipeline[job["extends"]] | job
        artifacts = whole["artifacts"]
        kept = [
            *artifacts["paths"],
            artifacts["reports"]["junit"],
            *(job["cache"]["paths"] if "when" in job["cache"] else ()),
        ]
        yield (
            name,
            Recipe(
                ["\n".join((*whole["before_script"], *whole["script"]))],
                ["\n".join(whole["after_script"])],
                kept,
                pipeline["variables"],
            ),
        )


def of_jenkins(text: str) -> Iterator[tuple[str, Recipe]]:
    """The install, and then each of the other stages."""
    shells = ["".join(found) for found in GROOVY.findall(text)]
    install, certify, after_certify, night, after_night = shells
    environment = dict(re.findall(r"^    (\w+) = '([^']*)'$", text, re.MULTILINE))
    kept = [re.sub(r"/?\*\*", "/", path) for path in re.findall(r"(?:junit|archiveArtifacts) '([^']*)'", text)]
    yield "certify", Recipe([install, certify], [after_certify], kept, environment)
    yield "nightly", Recipe([install, night], [after_night], kept, environment)


READERS = {".github/workflows/holdfast.yml": of_github, ".gitlab-ci.yml": of_gitlab, "Jenkinsfile": of_jenkins}


def accepted(words: Sequence[str]) -> None:
    """Read a command line with the parser of the command, which refuses what it does not know."""
    command: Any = get_command(app)
    context: Any = command.make_context("holdfast", list(words))
    while isinstance(command, TyperGroup):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, rest, parent=context)


def run(recipe: Recipe, folder: Path, code: int) -> tuple[list[list[str]], int]:
    """Its shell as the CI runs it, where Holdfast ends with a code: what was called, and how the first part ended."""
    tools, work = folder / "tools", folder / "work"
    for each in (tools, work):
        each.mkdir()
    for name in ("git", "pip", "python3", "holdfast", "apt-get"):
        (tools / name).write_text(STAND_IN)
        (tools / name).chmod(0o755)
    environment = {
        **recipe.environment,
        "PATH": f"{tools}:/usr/bin:/bin",
        "NOTED": str(folder / "noted"),
        "CODE": str(code),
        "GITHUB_STEP_SUMMARY": str(folder / "shown.md"),
    }
    ended = 0
    for block in recipe.blocks:
        if not ended:
            ended = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", block], cwd=work, env=environment, timeout=LIMIT_S
            ).returncode
    for block in recipe.always:
        subprocess.run(["bash", "-eo", "pipefail", "-c", block], cwd=work, env=environment, check=True, timeout=LIMIT_S)
    return [json.loads(line) for line in (folder / "noted").read_text().splitlines()], ended


def test_a_wrong_option_is_refused() -> None:
    accepted(["certify", "spark", "--tier", "spark"])
    for words in (
        ["certify", "spark", "--tiers", "spark"],
        ["certify", "spark", "--tier", "sprak"],
        ["nightly", "nights"],
    ):
        with pytest.raises(Exception, match=r"(?i)no such option|is not one of|unexpected extra argument"):
            accepted(words)


def test_the_page_has_a_recipe_for_each_ci() -> None:
    assert set(files()) == {*READERS, ".pre-commit-config.yaml"}


@pytest.mark.parametrize("code", [0, 1, 2])
@pytest.mark.parametrize("job", ["certify", "nightly"])
@pytest.mark.parametrize("name", READERS)
def test_the_shell_of_a_recipe_runs_and_leaves_what_it_hands_over(
    name: str, job: str, code: int, tmp_path: Path
) -> None:
    recipe = dict(READERS[name](files()[name]))[job]
    called, ended = run(recipe, tmp_path, code)
    assert ended == code
    [clone] = [words for tool, *words in called if tool == "git"]
    [install] = [words for tool, *words in called if tool == "pip"]
    [ours] = [words for tool, *words in called if tool == "holdfast"]
    assert ours[0] == job
    accepted(ours)
    assert clone[-2] == "REPOSITORY"
    folder, _, extra = install[-1].rstrip("]").partition("[")
    assert Path(folder) == Path(clone[-1])
    assert extra in metadata(DISTRIBUTION).get_all("Provides-Extra", ())
    assert {str(path) for path in recipe.kept} >= {"report/"}
    assert [path for path in recipe.kept if not (tmp_path / "work" / path).exists()] == []
    assert (tmp_path / "work/report/junit.xml").read_text() == "new"
    assert (tmp_path / "work/report/trend.html").exists() is (job == "nightly")


def test_the_python_of_the_recipes_is_the_oldest_that_is_allowed() -> None:
    found = re.findall(r"python-version: \"([^\"]*)\"|image: python:([\d.]+)|Python (\d\.\d+) with", PAGE.read_text())
    assert {"".join(each) for each in found} == {OLDEST}
    assert len(found) >= 4


def test_the_line_for_a_wheel_finds_one(tmp_path: Path) -> None:
    [line] = re.findall(r"`(pip install \"\$\(ls .*?)`", PAGE.read_text())
    (tmp_path / "wheels").mkdir()
    wheel = tmp_path / f"wheels/{DISTRIBUTION.replace('-', '_')}-0.1.0-py3-none-any.whl"
    wheel.touch()
    shown = subprocess.run(
        ["bash", "-c", f'pip() {{ echo "$@"; }}; {line}'], cwd=tmp_path, capture_output=True, text=True
    )
    assert shown.stdout.split() == ["install", f"wheels/{wheel.name}[spark]"]


def test_the_hook_of_the_page_exists() -> None:
    yaml = pytest.importorskip("yaml")
    [repository] = yaml.safe_load(files()[".pre-commit-config.yaml"])["repos"]
    offered = {each["id"] for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {each["id"] for each in repository["hooks"]} <= offered
