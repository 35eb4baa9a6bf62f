"""A part that changes its process costs the check in which it does, at most, and is never an error of the harness."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.certification.kit_run import KitRequest, KitRun
from holdfast.harness.engine.certification.kit_runner import CheckEnded
from holdfast.harness.engine.site import registry
from holdfast.harness.model.journal import CaseResult, Status

RULE = "RST-07"
MODULE = """
import builtins, gc, locale, os, resource, signal, sys, tempfile, threading, time
from pathlib import Path

from holdfast.suites.certify.scaffolds.restart_strategy.right import Strategy as Right

MARK = Path(__file__).with_suffix(".done")


def limit(name, value):
    hard = resource.getrlimit(getattr(resource, name))[1]
    resource.setrlimit(getattr(resource, name), (value, value if "hard" == "{how}" else hard))


def gone():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def speak(kind, status):
    from msgspec.msgpack import encode
    check = {{"id": "SBK-99/of-nobody", "purpose": "", "rule": "", "status": status}}
    message = encode({{"type": kind, "check": check}})
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{{name}}").startswith("socket:"):
                os.write(int(name), len(message).to_bytes(4) + message)
        except OSError:
            pass


def put_for_the_last_call(make):
    path = Path(tempfile.gettempdir(), "last-call")
    path.unlink()
    make(path)
    os._exit(0)


def take_all_room():
    os.dup2(os.open(sys.executable, os.O_RDONLY), 0)
    limit("RLIMIT_NOFILE", 3)


def act():
    {act}


class Strategy(Right):
    def failed(self, failure, now_ms):
        if not MARK.exists():
            MARK.touch()
            act()
        return super().failed(failure, now_ms)
"""
ACTS = {
    "files": "limit('RLIMIT_NOFILE', 3)",
    "all files": "take_all_room()",
    "processes": "limit('RLIMIT_NPROC', 0)",
    "lengths": "limit('RLIMIT_FSIZE', 0)",
    "memory": "limit('RLIMIT_AS', 1 << 20)",
    "time": "limit('RLIMIT_CPU', 1)",
    "dumps": "limit('RLIMIT_CORE', 0)",
    "umask": "os.umask(0o777)",
    "folder": "gone()",
    "mask": "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
    "handlers": "[signal.signal(each, signal.SIG_IGN) for each in (10, 14, 15, 17)]",
    "alarm": "signal.signal(14, signal.SIG_DFL); signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(9)",
    "descriptors": "os.closerange(3, 1_000)",
    "streams": "os.closerange(0, 3)",
    "print": "sys.stdin = sys.stdout = sys.stderr = None",
    "locale": "locale.setlocale(locale.LC_ALL, 'C')",
    "path": "sys.path.clear()",
    "environment": "os.environ.clear()",
    "modules": "[sys.modules.pop(each) for each in [*sys.modules] if each.startswith('holdfast.')]",
    "recursion": "sys.setrecursionlimit(60)",
    "trace": "sys.settrace(lambda *_: 1 // 0); sys.setprofile(lambda *_: 1 // 0)",
    "collection": "gc.disable()",
    "hooks": "threading.excepthook = sys.excepthook = sys.unraisablehook = None",
    "audit": "sys.addaudithook(lambda *_: 1 // 0)",
    "opening": "builtins.open = None",
    "listing": "os.listdir = os.scandir = None",
    "temporary folder": "tempfile.tempdir = '/nowhere'",
    "message of a case": "speak('CaseEnded', '')",
    "message of no check": "speak('CheckEnded', 'ERROR')",
    "pipe for the last call": "put_for_the_last_call(os.mkfifo)",
    "endless last call": "put_for_the_last_call(lambda path: path.symlink_to('/dev/zero'))",
}
GOOD = (Status.PASS, Status.NOT_APPLICABLE)


def certified(act: str, how: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[CaseResult]]:
    """Exit code, and the checks that did not pass."""
    (folder / "bent_part.py").write_text(MODULE.format(act=act, how=how))
    monkeypatch.syspath_prepend(folder)
    out = folder / "out"
    code = cli.execute(["certify", "--restart-strategy", "bent_part:Strategy", "--rule", RULE, "--out", str(out)])
    cases = read_journal(out / "latest" / "results.json").cases
    assert len(cases) > 5
    return code, [each for each in cases if each.status not in GOOD]


@pytest.mark.parametrize("how", ["soft", "hard"])
@pytest.mark.parametrize("what", ACTS)
@pytest.mark.share(7)
def test_a_part_that_changes_its_process_costs_one_check(
    what: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It chose exit code 4, and took all checks behind it along."""
    code, others = certified(ACTS[what], how, tmp_path, monkeypatch)
    assert len(others) <= 1
    assert {each.status for each in others} <= {Status.FAIL, Status.INCONCLUSIVE}
    assert code == (0 if not others else 1 if others[0].status is Status.FAIL else 2)


def test_what_was_changed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file can be opened in the whole process, so that whatever of the kit needs one breaks."""
    code, [check] = certified("take_all_room()", "hard", tmp_path, monkeypatch)
    assert (code, check.status) == (2, Status.INCONCLUSIVE)
    assert "Too many open files" in check.reason
    assert "meanwhile the part has changed RLIMIT_NOFILE" in check.reason


@pytest.mark.parametrize(
    ("factory", "status"),
    [("mine:Strategy", Status.INCONCLUSIVE), ("fixed-delay", Status.ERROR), ("hdfs://host/place", Status.ERROR)],
)
def test_only_a_part_that_ships_lets_the_kit_be_in_error(factory: str, status: Status) -> None:
    run = KitRun(KitRequest("restart-strategy", factory, ""))
    check = msgspec.structs.replace(run.waiting[0], status=Status.ERROR, reason="the kit broke")
    found = run.take(CheckEnded(check))
    assert found is not None
    assert found.status is status
    assert found.reason.startswith("the kit broke")


def test_who_ships_a_part() -> None:
    assert registry.strangers_in_part("mine:Backend") == ("mine:Backend",)
    assert registry.strangers_in_part("mine:Backend+changelog") == ("mine:Backend",)
    for ours in ("hashmap", "rocksdb+changelog", "s3://bucket/prefix", "holdfast.fixtures.sources.log:LogSource"):
        assert registry.strangers_in_part(ours) == ()
