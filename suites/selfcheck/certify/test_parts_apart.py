"""A part that ends, crashes or hangs its process in a single run, or leaves something behind, is blamed by name and
call; the exit code is never its own."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.commands import apart
from holdfast.harness.engine.artefacts.json_files import read_journal, write_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import NotHere, only_what_ships
from holdfast.harness.engine.site.plan_code import third_party_code
from holdfast.harness.model.journal import Status, Title
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.kit import Plugs
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.certify import ends

MODULE = "ends_of_a_stranger"
BACKEND = "state.backend.type"
RAISES = """
from holdfast.harness.engine.site import registry


def fail():
    raise ValueError("once")


Raises = at_a_snapshot(fail)
"""
SYSTEM = """

class System:
    def __getattr__(self, name):
        return getattr(registry.system("reference"), name)

    def claims(self, plan):
        raise OSError("of its own")
"""
FLOODS = '\n\nFloods = at_a_snapshot(lambda: os.write(2, b"x" * 3_000_000))\n'


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same parts, of a module that does not ship with Holdfast."""
    folder = tmp_path / "code"
    folder.mkdir()
    path = folder / f"{MODULE}.py"
    path.write_text(Path(ends.__file__).read_text() + RAISES + FLOODS + SYSTEM)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return path


def with_backend(part: str) -> Plan:
    made = plan()
    return msgspec.structs.replace(made, options={**made.options, BACKEND: f"{MODULE}:{part}"})


def ran(part: str, tmp_path: Path, *arguments: str) -> int:
    """Exit code of a single run on the simulator."""
    write_plan(tmp_path / "plan.json", with_backend(part))
    command = ["run", str(tmp_path / "plan.json"), "--tier", "sim", "--trust", "--out", str(tmp_path / "out")]
    return cli.execute([*command, *arguments])


@pytest.mark.parametrize(
    ("part", "code", "words"),
    [
        ("Exits", 1, f"FAIL: {MODULE}:Exits ended its process with exit code 0 in make_snapshot ({MODULE}.py:"),
        ("Crashes", 1, f"FAIL: {MODULE}:Crashes ended its process by SIGSEGV in make_snapshot ({MODULE}.py:"),
        ("Interrupts", 1, f"raised KeyboardInterrupt ({MODULE}.py:"),
        ("Leaves", 1, f"raised SystemExit: 0 ({MODULE}.py:"),
        ("Raises", 1, f"ends by itself, with ValueError: once ({MODULE}.py, line"),
        ("Terminates", 1, f"FAIL: {MODULE}:Terminates sent its own process SIGTERM"),
        ("Disturbs", 1, f"FAIL: {MODULE}:Disturbs wrote into the connection of its process, or closed it"),
        ("DisturbsAtLength", 1, "wrote into the connection of its process, or closed it"),
        ("Forks", 1, f"FAIL: {MODULE}:Forks left processes behind, which were ended"),
        ("Detaches", 1, f"FAIL: {MODULE}:Detaches left processes behind, which were ended"),
        ("Prints", 0, "PASS"),
        ("Stays", 0, "PASS"),
    ],
)
@pytest.mark.share(4)
def test_the_end_of_a_part_is_its_own(
    part: str, code: int, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ran(part, tmp_path) == code
    shown = capfd.readouterr().out
    assert words in shown
    assert "words of a part" not in shown
    assert [each.name for each in tmp_path.glob("holdfast-kit-*")] == []
    assert [each.name for each in (tmp_path / "out").glob(".*.part")] == []


def test_a_part_that_hangs_is_lost_in_time(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert ran("Hangs", tmp_path, "--part-limit", "10s") == 2
    words = f"INCONCLUSIVE: {MODULE}:Hangs did not return within 10 s in make_snapshot ({MODULE}.py:"
    assert words in capfd.readouterr().out


LAYS = """
import os
from pathlib import Path

from holdfast.harness.engine.site import registry

OUT = Path({out!r})


class System:
    def __getattr__(self, name):
        return getattr(registry.system("reference"), name)

    def deploy(self, plan, inputs, tier, folder):
        with Path(__file__).with_suffix(".runs").open("a") as runs:
            runs.write("1")
        part = OUT / ".laid.part"
        part.mkdir()
        (part / "work").mkdir()
        (part / "owner.json").write_text('{{"pid": 4194303, "start_time": 1, "owner": "holdfast"}}')
        text = next(OUT.glob(".2*.part/plan.json")).read_text()
        (part / "plan.json").write_text(text.replace("lays:System", "cleans:System"))
        os._exit(0)
"""
CLEANS = """
from pathlib import Path

Path(__file__).with_suffix(".imported").touch()
"""


def test_what_a_lost_part_wrote_chooses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The command ran once more, and whose code cleans up stood in a folder that the part had written."""
    folder = tmp_path / "code"
    (folder / "lays.py").write_text(LAYS.format(out=str(tmp_path / "out")))
    (folder / "cleans.py").write_text(CLEANS)
    write_plan(tmp_path / "plan.json", msgspec.structs.replace(plan(), system="lays:System"))
    command = ["run", str(tmp_path / "plan.json"), "--tier", "sim", "--trust", "--out", str(tmp_path / "out")]
    assert cli.execute(command) == 1
    assert "FAIL: lays:System ended its process with exit code 0 in deploy (lays.py:" in capfd.readouterr().out
    assert (folder / "lays.runs").read_text() == "1"
    assert not (folder / "cleans.imported").exists()
    assert list((tmp_path / "out").glob(".*.part")) == []


def test_a_flood_of_words_is_cut(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert ran("Floods", tmp_path) == 0
    error = capfd.readouterr().err
    assert f"more than {apart.OUTPUT_LIMIT_BYTES:,} bytes were written; the rest is left out." in error
    assert error.count("x") < 2 * apart.OUTPUT_LIMIT_BYTES


def test_an_exception_that_leaves_a_system_is_shown_with_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It was a traceback, or a sentence about this machine, and an error of the harness."""
    assert ran("Prints", tmp_path, "--system", f"{MODULE}:System") == 1
    shown = capfd.readouterr().out
    assert f"FAIL: {MODULE}:System, {MODULE}:Prints raised OSError: of its own ({MODULE}.py:" in shown
    assert ") in claims\n" in shown


def test_a_campaign_with_one_job_blames_the_part(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kit = registry.kit("state-backend")
    assert isinstance(kit, Plugs)
    system = kit.plugged(f"{MODULE}:Exits", "", {})
    assert cli.execute(["campaign", system, "--seeds", "1-3", "--out", str(tmp_path / "campaign")]) == 1
    assert f"FAIL: {MODULE}:Exits ended its process with exit code 0" in capfd.readouterr().out


def test_a_stored_run_is_replayed_judged_and_repeated_apart(
    tmp_path: Path, module: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ran("Prints", tmp_path) == 0
    (stored,) = (tmp_path / "out").glob("2*")
    assert cli.execute(["replay", str(stored), "--trust"]) == 0
    assert "same trace" in capfd.readouterr().out
    module.write_text(module.read_text().replace('os.write(1, b"words of a part\\n")', "os._exit(7)"))
    for command in (["replay", str(stored)], ["rerun", str(stored), "--times", "2", "--out", str(tmp_path / "again")]):
        assert cli.execute([*command, "--trust"]) == 1
        assert f"{MODULE}:Prints ended its process with exit code 7" in capfd.readouterr().out


def test_what_ships_runs_in_this_process_and_what_is_not_trusted_in_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write_plan(tmp_path / "plan.json", plan())
    before = threading.active_count(), os.getpid()
    assert third_party_code("reference+A3", plan()) == ()
    assert third_party_code("reference", with_backend("Exits")) == (f"{MODULE}:Exits",)
    assert third_party_code(f"{MODULE}:System") == (f"{MODULE}:System",)
    assert cli.execute(["run", str(tmp_path / "plan.json"), "--tier", "sim", "--out", str(tmp_path / "out")]) == 0
    assert (threading.active_count(), os.getpid()) == before
    write_plan(tmp_path / "plan.json", with_backend("Exits"))
    assert cli.execute(["run", str(tmp_path / "plan.json"), "--tier", "sim"]) == 3
    assert "look at that code, then add --trust" in capfd.readouterr().err


ENDS_AT = """
import os
from holdfast.fixtures.systems.reference import ReferenceSystem

WHEN = {when!r}
if WHEN == "import":
    os._exit(0)


class System(ReferenceSystem):
    def __init__(self, variant=""):
        super().__init__(variant)
        self.name = "ending:System"
        if WHEN == "constructor":
            os._exit(0)

    def account(self, plan):
        if WHEN == "account":
            os._exit(0)
        return super().account(plan)

    def deploy(self, *arguments):
        if WHEN == "deploy":
            os._exit(0)
        return super().deploy(*arguments)
"""


@pytest.fixture
def ending(module: Path, request: pytest.FixtureRequest) -> str:
    """A system that ends its process at a moment, well."""
    (module.parent / "ending.py").write_text(ENDS_AT.format(when=request.param))
    return "ending:System"


COMMANDS = {
    "certify": ("--tier", "sim", "--rule", "BAR-09", "--jobs", "1"),
    "compare": ("--tier", "sim", "--plans", "plan.json"),
    "doctor": (),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("ending", ["import", "constructor", "deploy"], indirect=True)
@pytest.mark.share(4)
def test_no_command_ends_as_a_system_wants(
    command: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It ended with exit code 0 and without a word."""
    monkeypatch.chdir(tmp_path)
    write_plan(tmp_path / "plan.json", plan())
    assert cli.execute([command, ending, *COMMANDS[command], *(() if command == "doctor" else ("--out", "out"))]) == 1
    assert f"{ending} ended its process with exit code 0" in " ".join(capfd.readouterr().out.split())


@pytest.mark.parametrize("ending", ["deploy"], indirect=True)
def test_a_case_that_a_system_ends_is_refuted_and_reported(ending: str, tmp_path: Path) -> None:
    arguments = ["--tier", "sim", "--rule", "BAR-09", "--jobs", "1", "--out", str(tmp_path / "out")]
    assert cli.execute(["certify", ending, *arguments]) == 1
    journal = read_journal(tmp_path / "out" / "latest" / "results.json")
    assert journal.certificate.title is Title.REFUSED
    failed = [each for each in journal.cases if each.status is Status.FAIL]
    assert failed
    assert all(f"system {ending} ended its process with exit code 0 in deploy (ending.py:" in each.reason
               for each in failed)  # fmt: skip


def test_a_command_that_forgets_it_is_run_apart_all_the_same(tmp_path: Path) -> None:
    """Whatever makes a system in the process of a command is stopped before it imports anything."""
    with only_what_ships():
        assert registry.system("reference").name == "reference"
        for name in (f"{MODULE}:System", f"reference+sink={MODULE}:Sink"):
            with pytest.raises(NotHere, match=MODULE):
                registry.system(name)
        with pytest.raises(NotHere, match=MODULE):
            registry.state_backend(f"{MODULE}:Exits")
    assert registry.system(f"{MODULE}:System")
