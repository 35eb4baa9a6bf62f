"""What a loss of power takes away is what was not synchronised, and only what matters refutes."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from holdfast.harness.model.status import Status
from holdfast.suites.certify.sink.checks.elsewhere import CHECKS
from holdfast.suites.certify.sink.kit import judge

SYNCHRONISED = next(check for check in CHECKS if check.id == "TPC-01/synchronised")
SCRIPT = """
import os, sqlite3, sys
from pathlib import Path
from holdfast.suites.certify.outside.synchronised import Watch

Watch.install()
os.chdir(sys.argv[1])
Path("log").write_bytes(b"old")
watch = Watch(Path.cwd().as_uri())

def synchronise(path):
    number = os.open(path, os.O_RDONLY)
    os.fsync(number)
    os.close(number)

exec(sys.argv[2])
for sentence in watch.lose():
    print(sentence, file=sys.stderr)
print({str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file() and path.suffix != ".db"})
"""


MARKS = '''
from holdfast.fixtures.sinks.files import FileSink


class Marks(FileSink):
    """A near miss: it keeps a file for itself whose loss hurts nobody, and does not synchronise it."""

    def claim(self) -> None:
        super().claim()
        (self.folder / f"_hint-{self.context.attempt}").write_text("begun")
'''


def test_a_file_that_holds_nothing_of_what_was_promised_need_not_be_synchronised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sink_that_marks.py").write_text(MARKS)
    monkeypatch.syspath_prepend(tmp_path)
    marks = import_module("sink_that_marks").Marks
    verdict = judge(SYNCHRONISED, marks)
    assert verdict.status is Status.PASS, verdict.reason


@pytest.mark.parametrize(
    ("does", "left"),
    [
        pytest.param("Path('log').open('ab').write(b'+new')", {"log": b"old"}, id="appended"),
        pytest.param(
            "f = open('log', 'ab', 0); f.write(b'+new'); os.fsync(f.fileno()); f.write(b'+newer'); f.close()",
            {"log": b"old+new"},
            id="appended behind it",
        ),
        pytest.param("Path('a').write_bytes(b'new'); synchronise('.')", {"a": b"", "log": b"old"}, id="name only"),
        pytest.param("Path('a').write_bytes(b'new'); synchronise('a')", {"log": b"old"}, id="bytes only"),
        pytest.param(
            "Path('a').write_bytes(b'new'); synchronise('a'); synchronise('.')", {"a": b"new", "log": b"old"}, id="both"
        ),
        pytest.param(
            "Path('c').write_bytes(b'1'); synchronise('c'); os.remove('c'); Path('a').write_bytes(b'1'); "
            "synchronise('.')",
            {"a": b"", "log": b"old"},
            id="number of a file that is gone",
        ),
        pytest.param("os.rename('log', 'b'); synchronise('.')", {"b": b"old"}, id="renamed"),
        pytest.param(
            "os.mkdir('d'); Path('d/a').write_bytes(b'new'); synchronise('d/a'); synchronise('d')",
            {"log": b"old"},
            id="folder without a name",
        ),
        pytest.param(
            "c = sqlite3.connect('x.db'); c.execute('create table t (a)'); c.close()", {"log": b"old"}, id="none"
        ),
    ],
)
def test_what_is_not_synchronised_is_gone(does: str, left: dict[str, bytes], tmp_path: Path) -> None:
    # In a process of its own, which is watched for good.
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), does], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(left), ran.stderr
    assert (tmp_path / "x.db").exists() == ("sqlite3" in does)
