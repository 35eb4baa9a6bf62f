"""Whose an exception is, the frame that raised it tells: a system that is not ours is refuted by its own, with call and
line; ours is an error of the harness, and what the machine refuses is nobody's."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness import cli
from holdfast.harness.engine.artefacts.json_files import read_journal, write_plan
from holdfast.harness.model.journal import Journal, Status, Title
from holdfast.suites.conformance.plans import plan

MODULE = """
import json
from errno import ENOSPC

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.events import JobSubmitted
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.records import Output
from holdfast.harness.spi.system import Recording

class Wordless(Exception):
    def __str__(self):
        raise ValueError

    __repr__ = __str__


ANSWERS = {
    "text": "as you like",
    "nothing": None,
    "number": 7,
    "claims-of-texts": Claims(state=frozenset({"all"}), output="all"),
    "list-of-texts": ["all"],
    "beyond": 10**400,
    "wordless": Wordless(),
    "surrogate": chr(0xDC80),
    "surrogates": (chr(0xDC80),),
    "counts-beyond": Recording((), ordered=True, output=Output(), dispatched=10**40),
    "event-of-texts": Recording(([JobSubmitted(node=0, sequence="1")],), ordered=True, output=Output()),
}
HOW = {
    "itself": lambda: {}["no such key"],
    "by-the-standard-library": lambda: json.loads("{"),
    "through-ours": lambda: plural("many", None),
    "no-room": lambda: fail(OSError(ENOSPC, "No space left on device")),
    "no-memory": lambda: fail(MemoryError()),
    "exit": lambda: fail(SystemExit(0)),
    "in-our-words": lambda: fail(OSError("harness error: none")),
    "wordless-error": lambda: fail(Wordless()),
    "at-length": lambda: fail(ValueError("x" * 1_000_000)),
}


def fail(error):
    raise error


class System(ReferenceSystem):
    def __init__(self, variant):
        super().__init__("")
        self.name = f"raising:{type(self).__name__}+{variant}"
        self.moment, self.how = variant.split("/")

    def reach(self, moment, answer):
        # What it answers at a moment.
        if moment != self.moment:
            return answer
        return ANSWERS[self.how] if self.how in ANSWERS else HOW[self.how]()

    @property
    def profile(self):
        return self.reach("profile", super().profile)

    @property
    def supplied_by_author(self):
        return self.reach("supplied_by_author", super().supplied_by_author)

    def account(self, plan):
        return self.reach("account", super().account(plan))

    def claims(self, plan):
        return self.reach("claims", super().claims(plan))

    def evidence(self):
        return self.reach("evidence", super().evidence())

    def certified_parts(self):
        return self.reach("certified_parts", super().certified_parts())

    def deploy(self, plan, inputs, tier, folder):
        return self.reach("deploy", Deployment(super().deploy(plan, inputs, tier, folder), self))


class Deployment:
    def __init__(self, inner, system):
        self.inner, self.reach = inner, system.reach

    def __getattr__(self, name):
        return getattr(self.inner, name)

    @property
    def now_ms(self):
        return self.reach("now_ms", self.inner.now_ms)

    def advance(self, until_ms):
        return self.reach("advance", self.inner.advance(until_ms))

    def stop(self, *, audit):
        return self.reach("stop", self.inner.stop(audit=audit))


class Narrow(System):
    def claims(self):
        return super().claims(None)
"""
MOMENTS = ("claims", "deploy", "advance")
THEIRS = {"itself": "KeyError: 'no such key' (raising.py:", "by-the-standard-library": "JSONDecodeError: Expecting "}


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "raising.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def certified(variant: str, tmp_path: Path) -> tuple[int, Journal]:
    arguments = ["--tier", "sim", "--rule", "BAR-09", "--jobs", "2", "--out", str(tmp_path / "out")]
    code = cli.execute(["certify", f"raising:System+{variant}", *arguments])
    return code, read_journal(tmp_path / "out" / "latest" / "results.json")


def refused(variant: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], *, name: str = "System") -> str:
    """What is printed of a single run, which refutes it."""
    write_plan(tmp_path / "plan.json", plan())
    command = ["run", str(tmp_path / "plan.json"), "--system", f"raising:{name}+{variant}"]
    assert cli.execute([*command, "--out", str(tmp_path / "out")]) == 1
    printed = capfd.readouterr().out
    assert "FAIL: raising:" in printed
    return printed


@pytest.mark.parametrize("how", THEIRS)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.share(4)
def test_what_a_system_raises_refutes_it(
    moment: str, how: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    printed = refused(f"{moment}/{how}", tmp_path, capfd)
    assert f"raising:System raised {THEIRS[how]}" in printed
    assert f" in {moment}\n" in printed
    assert "(raising.py:" in printed


@pytest.mark.parametrize(
    ("moment", "how", "words"),
    [
        ("deploy", "itself", THEIRS["itself"]),
        ("advance", "list-of-texts", "to advance; allowed is a sequence of "),
        ("advance", "exit", "raised SystemExit: 0 (raising.py:"),
    ],
)
def test_a_certification_says_it_of_each_case(moment: str, how: str, words: str, tmp_path: Path) -> None:
    code, journal = certified(f"{moment}/{how}", tmp_path)
    assert (code, journal.certificate.title) == (1, Title.REFUSED)
    assert not any(each.status is Status.ERROR for each in journal.cases)
    failed = [each.reason for each in journal.cases if each.status is Status.FAIL]
    assert failed
    assert all("raising:System " in reason and words in reason for reason in failed)


@pytest.mark.parametrize(
    ("moment", "how", "allowed"),
    [
        ("claims", "text", "answered str 'as you like' to claims; allowed is Claims"),
        ("claims", "claims-of-texts", "to claims; allowed is Claims (Invalid enum value 'all' - at `$.state[0]`)"),
        ("deploy", "nothing", "answered NoneType None to deploy; allowed is a Deployment"),
        ("advance", "nothing", "answered NoneType None to advance; allowed is a sequence of Event and GateReached"),
        ("advance", "list-of-texts", "to advance; allowed is a sequence of Event and GateReached"),
        ("now_ms", "text", "answered str 'as you like' to now_ms; allowed is a number of milliseconds"),
        ("now_ms", "beyond", " to now_ms; allowed is a number of milliseconds"),
        ("advance", "wordless", "answered Wordless <a Wordless that cannot be shown> to advance; allowed is "),
        ("stop", "counts-beyond", "to stop; allowed is int ("),
        ("stop", "number", "answered int 7 to stop; allowed is a Recording"),
        ("stop", "event-of-texts", "allowed is an event whose fields are of their types (Expected `str`, got `int`"),
    ],
)
@pytest.mark.share(4)
def test_an_answer_of_another_type_refutes_the_system(
    moment: str, how: str, allowed: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What tripped over it was ours, so that it was an error of the harness."""
    printed = refused(f"{moment}/{how}", tmp_path, capfd)
    assert "raising:System answered " in printed
    assert allowed in printed


def test_a_call_that_does_not_take_what_its_contract_gives_refutes_too(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    printed = refused("-/-", tmp_path, capfd, name="Narrow")
    assert "raising:Narrow cannot be called as its contract says: " in printed


def refuted_before_a_case(variant: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """What is printed of a system that is refused."""
    command = ["certify", f"raising:System+{variant}", "--tier", "sim", "--rule", "BAR-09"]
    assert cli.execute([*command, "--out", str(tmp_path)]) == 1
    printed = capfd.readouterr()
    assert "Traceback" not in printed.err
    return printed.out


@pytest.mark.parametrize(("moment", "how"), [("profile", "surrogate"), ("supplied_by_author", "surrogates")])
@pytest.mark.share(2)
def test_a_text_that_cannot_be_stored_is_none(
    moment: str, how: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The report could not be written."""
    assert f" to {moment}; allowed is a t" in refuted_before_a_case(f"{moment}/{how}", tmp_path, capfd)


@pytest.mark.parametrize("moment", ["account", "evidence", "certified_parts"])
@pytest.mark.share(3)
def test_before_there_is_a_case_a_wrong_answer_refutes_too(
    moment: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    printed = refuted_before_a_case(f"{moment}/number", tmp_path, capfd)
    assert f"raising:System answered int 7 to {moment}; allowed is " in printed


@pytest.mark.parametrize("how", ["through-ours", "no-room", "no-memory"])
@pytest.mark.share(3)
def test_what_ours_raises_or_the_machine_is_an_error(how: str, tmp_path: Path) -> None:
    code, journal = certified(f"claims/{how}", tmp_path)
    assert code == 4
    assert not any(each.status is Status.FAIL for each in journal.cases)
    assert any(each.status is Status.ERROR for each in journal.cases)


def test_an_exit_in_a_run_refutes_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "raising:System raised SystemExit: 0 (raising.py:" in refused("advance/exit", tmp_path, capfd)


@pytest.mark.parametrize(
    ("how", "words"),
    [("wordless-error", "Wordless: <a Wordless that cannot"), ("at-length", "... (1000000 characters)")],
)
@pytest.mark.share(2)
def test_what_an_error_cannot_say_keeps_nobody_from_being_blamed(
    how: str, words: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    printed = refused(f"advance/{how}", tmp_path, capfd)
    assert "raising:System raised " in printed
    assert words in printed
    assert len(printed) < 5_000


def test_a_system_does_not_say_that_the_harness_broke(tmp_path: Path) -> None:
    """It chose exit code 4 by these words."""
    code, journal = certified("advance/in-our-words", tmp_path)
    assert code == 2
    assert not any(each.status is Status.ERROR for each in journal.cases)


def test_before_there_is_a_case_the_line_is_the_same(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Which cases there are, the system's account of options tells."""
    command = ["certify", "raising:System+account/itself", "--tier", "sim", "--rule", "BAR-09", "--out", str(tmp_path)]
    assert cli.execute(command) == 1
    shown = capfd.readouterr()
    assert "FAIL: raising:System raised KeyError: 'no such key' (raising.py:" in shown.out
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(("how", "code"), [("itself", 1), ("through-ours", 4), ("no-room", 4)])
@pytest.mark.share(2)
def test_a_campaign_and_a_single_run_draw_the_same_line(how: str, code: int, tmp_path: Path) -> None:
    system = f"raising:System+claims/{how}"
    write_plan(tmp_path / "plan.json", plan())
    assert cli.execute(["run", str(tmp_path / "plan.json"), "--system", system, "--out", str(tmp_path / "run")]) == code
    assert cli.execute(["campaign", system, "--seeds", "1-2", "--out", str(tmp_path / "campaign")]) == code
