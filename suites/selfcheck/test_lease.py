"""Leases are swept whose owner is dead, and no others."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from holdfast.harness import label, lease
from holdfast.harness.adapter.child import Child, wait_for
from holdfast.harness.lease import Lease
from holdfast.suites.selfcheck.started import Started

HERE = lease.this_process().partition("@")[2]
DEAD = f"{2**22 + 1}:5@{HERE}"
"""No process can have this number."""
NOTE = ".holdfast-owner"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(kind: str = "services") -> Path:
    """A folder whose owner is dead."""
    folder = Lease(kind).folder
    (folder / NOTE).write_text(DEAD)
    return folder


def test_we_live_and_others_do_not() -> None:
    own = lease.this_process()
    assert lease.lives(own)
    assert lease.lives(own.partition("@")[0]), "written by an earlier version, which told no place"
    with Started("true") as child:
        pass
    assert not lease.lives(f"{child.pid}:{own.partition(':')[2]}")
    assert not lease.lives(f"{os.getpid()}:1@{HERE}"), "the number belongs to another process by now"
    for nonsense in ("", "x", "1", ":", "-1:0", DEAD, DEAD.partition("@")[0], f"{2**22 + 1}:0@{HERE}"):
        assert not lease.lives(nonsense), nonsense


def test_an_owner_of_another_place_may_live(temporary: Path) -> None:
    """Two containers may share a folder for temporary files: neither sees the processes of the other."""
    theirs = left()
    (theirs / NOTE).write_text(DEAD.replace(HERE, "0123456789ab"))
    assert list(lease.sweep()) == []
    assert theirs.exists()


def test_a_space_of_pids_is_a_place_of_its_own() -> None:
    program = "from holdfast.harness.lease import this_process; print(this_process())"
    apart = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("this machine makes no space of pids")
    theirs = subprocess.run([*apart, sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert theirs.strip().partition("@")[2] != HERE
    assert lease.lives(theirs.strip())


def test_only_those_of_the_dead_are_swept() -> None:
    ours, theirs = Lease("services").folder, left()
    (theirs / "deep").mkdir()
    assert lease.abandoned() == (theirs,)
    assert list(lease.sweep()) == [f"{theirs}: removed."]
    assert (ours.exists(), theirs.exists()) == (True, False)


@pytest.mark.parametrize("note", [None, "", "the streams team", "1:", f"{DEAD} of theirs"])
def test_one_without_an_owner_is_just_being_made_or_somebody_elses(note: str | None) -> None:
    folder = left()
    (folder / NOTE).unlink()
    if note is not None:
        (folder / NOTE).write_text(note)
    assert list(lease.sweep()) == []
    assert folder.exists()


@pytest.mark.parametrize("note", [None, ""])
def test_an_empty_one_goes_whose_owner_was_killed_before_the_note_was_whole(temporary: Path, note: str | None) -> None:
    """It stayed for ever: nothing in it said whose it was."""
    for pid, more in ((2**22 + 1, ""), (2**22 + 1, "room"), (os.getpid(), "")):
        folder = temporary / f"holdfast-kit-{pid}-abcdefg{len(more)}"
        folder.mkdir()
        if note is not None:
            (folder / NOTE).write_text(note)
        if more:
            (folder / more).mkdir()
    assert [each.partition(": ")[2] for each in lease.sweep()] == ["removed."]
    assert [each.name for each in sorted(temporary.iterdir())] == sorted(
        [f"holdfast-kit-{os.getpid()}-abcdefg0", f"holdfast-kit-{2**22 + 1}-abcdefg4"]
    )


@pytest.mark.parametrize("name", ["20261130170000-abcdefgh", "99999999999999999999-abcdefgh", "5-abc", "-abcdefgh"])
def test_an_empty_folder_of_another_name_is_somebody_elses(temporary: Path, name: str) -> None:
    """No process can have the first two numbers, and asking for one raised in the sweep."""
    (temporary / f"holdfast-kit-{name}").mkdir()
    assert list(lease.sweep()) == []


def test_no_link_is_followed(temporary: Path) -> None:
    precious = temporary / "precious"
    precious.mkdir()
    (precious / NOTE).write_text(DEAD)
    (temporary / "holdfast-services-link").symlink_to(precious)
    folder = left()
    (folder / "link").symlink_to(precious)
    assert list(lease.sweep()) == [f"{folder}: removed."]
    assert (precious / NOTE).exists()


def test_what_carries_one_as_its_label_ends_with_it(temporary: Path) -> None:
    folder = left("flink")
    child = Child(
        [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"], folder, temporary / "log"
    )
    while not child.lines():
        assert not child.ended
        wait_for([child], 1)
    assert list(lease.sweep()) == [f"{folder}: removed, 1 process ended."]
    assert child.end() == -9
    child.close()


def test_what_cannot_be_removed_whole_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = left()
    removal = f"{folder}: cannot be removed whole."
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: (folder / NOTE).unlink(missing_ok=True))
    assert [list(lease.sweep()), list(lease.sweep())] == [[removal]] * 2


def test_one_that_was_only_inherited_stays() -> None:
    held = Lease("kit")
    child = os.fork()
    if not child:
        held.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert held.folder.exists()
    with held as room:
        assert list(room.iterdir()) == []
    assert not held.folder.exists()


def test_a_folder_that_may_not_be_written_to_is_removed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    open_to_all = Path(tempfile.mkdtemp())
    open_to_all.chmod(0o777)
    monkeypatch.setattr(tempfile, "tempdir", str(open_to_all))
    child = os.fork()
    if not child:
        code = 2
        try:
            if os.geteuid() == 0:  # Nothing is forbidden to root.
                os.setuid(65_534)
            held = Lease("kit")
            closed = held.room / "closed"
            closed.mkdir()
            (closed / "file").touch()
            closed.chmod(0o500)
            held.close()
            code = int(held.folder.exists())
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    open_to_all.rmdir()


def test_a_note_that_cannot_be_written_again_stops_no_sweep(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = left()

    def spoil(*_: object, **__: object) -> None:
        if (folder / NOTE).is_file():
            (folder / NOTE).unlink()
            (folder / NOTE).mkdir()

    monkeypatch.setattr(shutil, "rmtree", spoil)
    assert list(lease.sweep()) == [f"{folder}: cannot be removed whole."]


def test_where_no_start_time_is_known_a_pid_says_who_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not lease.lives(f"{os.getpid()}:0@{HERE}")
    monkeypatch.setattr(Path, "exists", lambda _: False)
    assert lease.lives(f"{os.getpid()}:0@{HERE}")
    assert not lease.lives(f"4194303:0@{HERE}")


def test_a_process_is_ended_while_its_program_is_still_read_from_the_disk(tmp_path: Path) -> None:
    with Lease("kit") as room:
        for each in range(20):
            program = Path(shutil.copy("/bin/bash", room / f"bash-{each}"))
            file = os.open(program, os.O_RDWR)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)  # Loading it takes longer than starting it.
            os.close(file)
            with Started(program, "-c", "read", env={"HOLDFAST_RUN": str(room)}) as begun:
                assert label.labelled(room) == [begun.pid]
                assert label.end_labelled(room) == 1


def test_what_was_started_without_an_environment_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with Started("sh", "-c", "echo begun; read line", env={}) as begun:
        assert begun.read_line() == "begun"
        monkeypatch.setattr(select, "poll", None)
        assert not label.carries(begun.pid, Path("/"))
    assert label.variables_of(begun.pid) == ()
    assert label.variables_of(2) in ((), [b""]), "a thread of the kernel, or nobody"


def test_what_cannot_be_removed_where_no_file_can_be_opened_goes_with_the_process(temporary: Path) -> None:
    program = (
        "import resource as r; from holdfast.harness.lease import Lease; t = Lease('kit'); t.room;"
        "_, hard = r.getrlimit(r.RLIMIT_NOFILE); r.setrlimit(r.RLIMIT_NOFILE, (0, hard)); t.close();"
        "assert t.folder.exists(); r.setrlimit(r.RLIMIT_NOFILE, (hard, hard)); print(t.folder)"
    )
    command, environment = [sys.executable, "-c", program], {"TMPDIR": str(temporary)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).exists()
