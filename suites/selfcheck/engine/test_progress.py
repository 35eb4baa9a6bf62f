"""What a log shows of a certification and of images that are built: what is over, and how much is left."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import cast

import msgspec
import pytest
from rich.console import Console

from holdfast.harness.commands import progress
from holdfast.harness.commands.console import plain
from holdfast.harness.commands.progress import OTHER_COSTS_COUNT_S, CaseProgress, TimeLeft
from holdfast.harness.commands.services import LINE_EVERY_S, BuildProgress
from holdfast.harness.engine.cases.case_status import case_not_run, case_result
from holdfast.harness.engine.certification.limits import Width, first_widths
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.status import Status
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.system import System
from holdfast.suites.selfcheck.engine.results import case, result, tally
from holdfast.suites.selfcheck.engine.scripted import ScriptedOracle
from holdfast.suites.selfcheck.engine.test_findings import LOSS, kept

WIDTHS = {Tier.SIM: 1}
REQUEST = Request(command="", system="scripted", folder=Path("out/now"))
ONE, TWO, OTHER = (case(id=name) for name in ("area/one", "area/two", "other/one"))


ANNOUNCED = "scripted on sim: 2 cases, 2 runs or more, about 5 s on 1 processor; the report goes to out/now\n"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds since the start; whoever changes them lets time pass."""
    now_s = [0.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now_s[0])
    return now_s


def log(*, quiet: bool = False, terminal: bool = False, request: Request = REQUEST) -> tuple[CaseProgress, io.StringIO]:
    stream = io.StringIO()
    console = Console(file=stream, width=200, force_terminal=terminal)
    return CaseProgress(console, request, quiet=quiet), stream


def lines(stream: io.StringIO) -> list[str]:
    """Those behind the announcement."""
    return stream.getvalue().splitlines()[1:]


def ended(observer: CaseProgress, which: object = ONE, **fields: object) -> None:
    over = case_result(which, Tier.SIM, 1, tally(result()), [ScriptedOracle("CUT")], {})  # type: ignore[arg-type]
    observer.end(msgspec.structs.replace(over, **fields))


def test_the_first_line_says_what_runs_and_for_how_long() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (OTHER, Tier.SIM)], WIDTHS)
    assert stream.getvalue() == ANNOUNCED
    observer.expect([(TWO, Tier.SIM)], WIDTHS)  # What none of the first decided comes later.
    assert stream.getvalue() == ANNOUNCED


def test_a_long_certification_is_announced_with_its_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "case_costs", lambda: {(ONE.id, Tier.SIM): 240.0, (TWO.id, Tier.SPARK): 100.0})
    observer, stream = log(request=msgspec.structs.replace(REQUEST, jobs=2))
    observer.expect([(ONE, Tier.SIM), (TWO, Tier.SPARK)], {Tier.SIM: 2})
    assert "scripted on sim, spark: 2 cases, 2 runs or more, about 2 min on 2 processors; " in stream.getvalue()


class _SideBySide:
    side_by_side = frozenset({Tier.PROCESS})


def test_runs_on_processes_are_announced_as_many_at_a_time_as_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was said to take as long as with one for each processor."""
    monkeypatch.setattr(registry, "case_costs", lambda: {(ONE.id, Tier.PROCESS): 960.0})
    observer, stream = log(request=msgspec.structs.replace(REQUEST, jobs=2))
    observer.expect([(ONE, Tier.PROCESS)], first_widths(cast("System", _SideBySide()), 2))
    assert f"about {960 / 60 / Width(2).value:.0f} min on 2 processors; " in stream.getvalue()
    assert Width(2).value > 2


def test_runs_that_cannot_stand_side_by_side_are_announced_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "case_costs", lambda: {(ONE.id, Tier.PROCESS): 960.0})
    observer, stream = log(request=msgspec.structs.replace(REQUEST, jobs=2))
    observer.expect([(ONE, Tier.PROCESS)], first_widths(cast("System", object()), 2))
    assert "about 16 min on 2 processors; " in stream.getvalue()


def test_an_area_is_one_line_when_all_of_its_cases_are_over() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (TWO, Tier.SIM), (OTHER, Tier.SIM)], WIDTHS)
    for each in (ONE, TWO):
        assert lines(stream) == []
        observer.begin(each.id, Tier.SIM, 1)
        observer.ran(result(case=each.id), None)
        ended(observer, each)
    assert lines(stream) == ["PASS           area: 2 cases (2 pass), 2 runs"]


def test_an_area_of_which_a_part_did_not_run_does_not_pass() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (TWO, Tier.SIM)], WIDTHS)
    observer.begin(ONE.id, Tier.SIM, 1)
    observer.ran(result(case=ONE.id), None)
    ended(observer, ONE)
    observer.end(case_not_run(TWO, Tier.SIM, Status.UNTESTED, "the time was over"))
    assert lines(stream) == ["UNTESTED       area: 2 cases (1 untested, 1 pass), 1 run"]


def test_what_does_not_apply_takes_nothing_from_an_area() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (TWO, Tier.SIM)], WIDTHS)
    observer.begin(ONE.id, Tier.SIM, 1)
    observer.ran(result(case=ONE.id), None)
    ended(observer, ONE)
    observer.end(case_not_run(TWO, Tier.SIM, Status.NOT_APPLICABLE, "it lacks everything"))
    assert lines(stream)[0].startswith("PASS           area: 2 cases (")


def test_areas_of_which_nothing_ran_are_not_listed() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM)], WIDTHS)
    observer.end(case_not_run(ONE, Tier.SIM, Status.NOT_APPLICABLE, "it lacks everything"))
    observer.end(case_not_run(TWO, Tier.PROCESS, Status.UNTESTED, "nobody expected it"))
    assert lines(stream) == []


def test_a_silent_log_says_how_far_it_is(clock: list[float]) -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (OTHER, Tier.SIM)], WIDTHS)
    for at_s in range(1, 50):
        clock[0] = at_s
        if at_s in (10, 20):
            observer.begin(ONE.id, Tier.SIM, 1)
            observer.ran(result(case=ONE.id), None)
        observer.look()
    assert lines(stream) == ["0 of 2 are over, nothing refuted, area/one on sim"] * 2
    ended(observer)
    clock[0] = 80.0
    observer.look()
    assert lines(stream)[-1].startswith("1 of 2 are over, nothing refuted, about ")


@pytest.mark.parametrize("terminal", [False, True])
def test_an_estimate_that_has_passed_is_not_repeated(terminal: bool, clock: list[float]) -> None:
    """`about 5 s left` stood there for minutes."""
    observer, stream = log(terminal=terminal)
    observer.expect([(ONE, Tier.SIM), (OTHER, Tier.SIM)], WIDTHS)
    ended(observer)
    observer.begin(OTHER.id, Tier.SIM, 1)
    for at_s, words in (
        (30.0, "nothing refuted, about "),
        (200.0, "estimated: nothing has ended for 3 min, other/one"),
    ):
        clock[0] = at_s
        observer.look()
        assert words in (observer._progress.tasks[0].description if terminal else lines(stream)[-1])


def test_a_log_lives_while_one_run_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line comes from a thread of its own: nothing else happens meanwhile."""
    looked = Event()
    monkeypatch.setattr(CaseProgress, "look", lambda self: looked.set())
    observer, _ = log()
    with observer:
        assert looked.wait(30)
    assert progress.SILENT_S < 30


def test_a_terminal_has_one_line_that_changes() -> None:
    observer, stream = log(terminal=True)
    with observer:
        observer.expect([(ONE, Tier.SIM), (OTHER, Tier.SIM)], WIDTHS)
        observer.begin(ONE.id, Tier.SIM, 1)
        observer.ran(result(case=ONE.id), None)
        ended(observer)
        observer._progress.refresh()
        (task,) = observer._progress.tasks
    assert (task.completed, task.total) == (1, 2)
    assert task.fields["counted"] == "1 of 2"
    assert task.description.startswith("nothing refuted, about ")
    assert "PASS" not in stream.getvalue()


def test_a_log_names_a_case_that_is_under_way_and_none_that_is_over(clock: list[float]) -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM), (OTHER, Tier.SIM)], WIDTHS)
    observer.begin(OTHER.id, Tier.SIM, 1)
    observer.begin(ONE.id, Tier.SIM, 1)
    ended(observer)
    clock[0] = 50.0
    observer.look()
    assert lines(stream)[-1].endswith(f"{OTHER.id} on sim")


def test_what_is_refuted_is_said_once_for_each_kind() -> None:
    observer, stream = log()
    observer.expect([(ONE, Tier.SIM)], WIDTHS)
    for number in range(3):
        observer.ran(result(case=ONE.id), kept(number, LOSS, case=ONE.id))
    assert lines(stream) == ["REFUTED  area/one on sim: Data loss: 12 records have no row"]


def test_quiet_is_quiet() -> None:
    observer, stream = log(quiet=True)
    with observer:
        observer.expect([(ONE, Tier.SIM)], WIDTHS)
        observer.ran(result(case=ONE.id), kept(0, LOSS, case=ONE.id))
        ended(observer)
    assert stream.getvalue() == ""


def test_a_kit_names_the_check_that_it_is_in(clock: list[float]) -> None:
    observer, stream = log(request=msgspec.structs.replace(REQUEST, system="sink mine:Sink"))
    checks = [KitCheck(f"SBK-0{number}/name", "", f"SBK-0{number}", Status.PASS) for number in range(3)]
    observer.expect_checks("sink mine:Sink", checks, 2.0)
    assert stream.getvalue() == "sink mine:Sink: 3 checks; the report goes to out/now\n"
    observer.end_check("sink mine:Sink", checks[0])
    clock[0] = 25.0
    observer.look()
    assert lines(stream)[-1].startswith("1 of 3 are over, nothing refuted, about ")
    assert lines(stream)[-1].endswith(" left, SBK-01/name of sink mine:Sink")
    failed = msgspec.structs.replace(checks[1], status=Status.FAIL, reason="It lost a record.")
    observer.end_check("sink mine:Sink", failed)
    observer.end_check("sink mine:Sink", checks[2])
    assert lines(stream)[-2:] == [
        "REFUTED  SBK-01/name of sink mine:Sink: It lost a record.",
        "FAIL           kits: sink mine:Sink: 3 checks (1 fail, 2 pass)",
    ]


def test_parts_of_a_system_are_announced_with_its_cases() -> None:
    observer, stream = log()
    for name in ("sink mine:Sink", "source mine:Source"):
        observer.expect_checks(name, [KitCheck("TPC-01/name", "", "TPC-01", Status.UNTESTED)] * 3, 1.5)
    assert stream.getvalue() == ""
    observer.expect([(ONE, Tier.SIM)], WIDTHS)
    assert "scripted on sim: 1 case, 1 run or more, 6 checks of 2 parts, about 5 s on " in stream.getvalue()


def test_the_time_left_follows_from_what_runs_cost_and_from_the_pace() -> None:
    left = TimeLeft(budget_s=None)
    left.widths = {Tier.SIM: 2}
    left.cost("area/one", Tier.SIM, 4.0)
    left.cost("area/one", Tier.PROCESS, 8.0)
    left.expect("area/one", Tier.SIM, 11)
    left.expect("area/one", Tier.PROCESS, 2)
    assert left.estimate_s(0.0) == pytest.approx(22.0)  # 44 s of runs on two workers; beside them 16 s on one.
    left.began(Tier.SIM, 0.0)
    for _ in range(10):
        left.ran("area/one", Tier.SIM)
    left.expect("area/one", Tier.SIM, 30)
    known_s = OTHER_COSTS_COUNT_S
    assert left.estimate_s(40.0) == pytest.approx(120.0 / ((40.0 + 2 * known_s) / (40.0 + known_s)))


def test_runs_that_do_not_count_are_still_to_come() -> None:
    observer, _ = log()
    observer.expect([(ONE, Tier.SIM)], WIDTHS)
    observer.begin(ONE.id, Tier.SIM, 3)
    before_s = observer._left.estimate_s(0.0)
    observer.ran(result(case=ONE.id, outcome=Outcome.INCONCLUSIVE), None)
    assert observer._left.estimate_s(0.0) <= before_s
    assert observer._left._to_come[ONE.id, Tier.SIM] == 3
    observer.ran(result(case=ONE.id), None)
    assert observer._left._to_come[ONE.id, Tier.SIM] == 2
    ended(observer)
    assert observer._left.estimate_s(0.0) == 0.0


def test_a_budget_is_the_time_left() -> None:
    left = TimeLeft(budget_s=30.0)
    left.expect("area/one", Tier.SIM, 11)
    assert (left.estimate_s(10.0), left.estimate_s(31.0)) == (20.0, 0.0)


class Log:
    """A log file, with a clock that stands until it is moved."""

    def __init__(self) -> None:
        self.file = io.StringIO()
        self.now_s = 100.0
        self.progress = BuildProgress(plain(self.file, width=200), ["base", "spark"], lambda: self.now_s)

    @property
    def lines(self) -> list[str]:
        return self.file.getvalue().splitlines()


@pytest.fixture
def build_log() -> Iterator[Log]:
    made = Log()
    with made.progress:
        yield made


def test_each_image_has_its_number_and_each_step_a_line_with_the_time(build_log: Log) -> None:
    build_log.progress("base", "pull Debian trixie")
    build_log.now_s += 5
    build_log.progress("spark", "Step 1/9 : FROM base")
    build_log.progress("spark", " ---> 0123")
    build_log.now_s += 12
    build_log.progress("spark", "Step 2/9 : RUN apt-get install")
    assert build_log.lines == [
        "image 1 of 2 base, 0 s: pull Debian trixie",
        "image 2 of 2 spark, 0 s: step 1/9, FROM base",
        "image 2 of 2 spark, 12 s: step 2/9, RUN apt-get install",
    ]


def test_a_build_that_shows_no_step_for_long_is_named_again(build_log: Log) -> None:
    build_log.progress("spark", "Step 1/9 : RUN mvn")
    build_log.now_s += LINE_EVERY_S - 1
    build_log.progress("spark", "Downloaded half")
    build_log.progress.remind()
    assert len(build_log.lines) == 1
    build_log.now_s += 1
    build_log.progress.remind()
    build_log.progress.remind()
    assert build_log.lines[1:] == ["image 1 of 2 spark, 30 s: step 1/9, Downloaded half"]


def test_what_is_over_is_not_named_again(build_log: Log) -> None:
    build_log.progress("base", "import")
    build_log.progress("base", "Successfully tagged holdfast-base:1")
    build_log.now_s += 10 * LINE_EVERY_S
    build_log.progress.remind()
    assert len(build_log.lines) == 2


def test_an_image_that_nobody_expected_is_counted(build_log: Log) -> None:
    for name in ("base", "spark", "kafka"):
        build_log.progress(name, "Step 1/2 : FROM base")
    assert build_log.lines[-1].startswith("image 3 of 3 kafka")


def test_words_of_a_build_are_no_markup(build_log: Log) -> None:
    build_log.progress("base", "[bold]not markup[/bold]")
    assert build_log.lines == ["image 1 of 2 base, 0 s: [bold]not markup[/bold]"]
