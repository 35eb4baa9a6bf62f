"""What a newcomer pastes from README.md does what the page says, from a clone and in an environment of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast.suites

ROOT = Path(holdfast.suites.__path__[0]).parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STAMP = re.compile(r"\d{4}-\d\d-\d\d-\d{6}")
CLONED = "git clone"
LIMIT_S = 600


def blocks(document: str, language: str) -> list[str]:
    """The blocks of code in a language, in order."""
    return [text for named, text in BLOCK.findall(document) if named == language]


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
        [shell, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
def test_four_lines_lead_from_the_clone_to_the_refusal_that_is_pasted(tmp_path: Path) -> None:
    document = (ROOT / "README.md").read_text()
    lines = next(text for text in blocks(document, "console") if CLONED in text)
    assert len(lines.splitlines()) == 4
    done = run(script_of(lines), "bash", tmp_path)
    assert done.returncode == 1, done.stderr[-4000:]
    (pasted,) = blocks(document, "text")
    assert unseen(pasted, done.stdout) == []


@pytest.mark.nightly
@pytest.mark.timeout(LIMIT_S)
@pytest.mark.parametrize(("sink", "code"), [("my_sink:Sink", 0), ("wrong_my_sink:WrongSink", 1)])
def test_a_ci_passes_a_right_sink_and_fails_a_wrong_one(sink: str, code: int, tmp_path: Path) -> None:
    (lines,) = blocks((ROOT / "README.md").read_text(), "sh")
    assert len(lines.splitlines()) <= 12
    assert lines.count("my_sink:Sink") == 1
    command = [sys.executable, "-m", "holdfast.harness.cli", "new", "sink", "my_sink"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=LIMIT_S)
    done = run(script_of(lines.replace("my_sink:Sink", sink)), "sh", tmp_path / "my_sink")
    assert done.returncode == code, done.stderr[-4000:]
    summary = (tmp_path / "my_sink/certificate/latest/summary.md").read_text()
    assert done.stdout.endswith(summary)
