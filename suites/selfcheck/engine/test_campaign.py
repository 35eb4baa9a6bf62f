"""Many runs of one case, and campaigns over many seeds: what is tried again, what adds up, and when they end."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.harness import cli
from holdfast.harness.commands import campaign, console
from holdfast.harness.engine.artefacts.stored_run import PARTS
from holdfast.harness.engine.cases.case import system_under_test
from holdfast.harness.engine.cases.case_run import ATTEMPTS, CaseRun, run_once, run_until
from holdfast.harness.engine.certification.run_store import LIMITS, RUNS, Keep, RunStore
from holdfast.harness.engine.errors import NotApplicable, UsageError
from holdfast.harness.engine.executor.run import never_interrupted
from holdfast.harness.engine.exploration import long_campaign
from holdfast.harness.engine.exploration.ledger import LEDGER, Counts, Ledger
from holdfast.harness.engine.exploration.long_campaign import LongCampaign
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.case import Case, Decision, Tier, Window
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Plan
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.suites.selfcheck.engine.results import case, result
from holdfast.suites.selfcheck.engine.scripted import (
    WORKER,
    Breaks,
    Checkpoints,
    ScriptedOracle,
    ScriptedSystem,
    plan,
    toolbox,
)
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.started import Started

KILLED = plan(FaultSpec("kill", WORKER))


class Moody(ScriptedOracle):
    """Cannot tell about some plans."""

    def __init__(self, doubts: Callable[[Plan], bool]) -> None:
        super().__init__("MOODY", Outcome.INCONCLUSIVE)
        self._doubts = doubts

    def applies(self, history: object) -> bool:
        return self._doubts(history.plan)  # type: ignore[attr-defined]


def case_run_of(of_case: Case, *oracles: ScriptedOracle, **fields: object) -> CaseRun:
    system = ScriptedSystem(Checkpoints())
    return msgspec.structs.replace(CaseRun(of_case, system, Tier.SIM, toolbox(*oracles)), **fields)


def drawn(seed: int) -> Plan:
    return plan(draw_seed=seed, run_seed=seed)


def outcomes_of(runs: CaseRun, demanded: int, jobs: int = 1) -> list[tuple[int, str]]:
    return [(each.result.run_seed, each.result.outcome.value) for each in run_until(runs, demanded, jobs)]


def test_a_written_plan_is_asked_as_often_as_demanded() -> None:
    assert outcomes_of(case_run_of(case()), 2) == [(0, "pass"), (0, "pass")]


def test_a_written_plan_that_missed_is_asked_again_with_other_random_numbers() -> None:
    doubts = Moody(lambda each: each.run_seed < 2)
    assert outcomes_of(case_run_of(case(), ScriptedOracle("P"), doubts), 1) == [
        (0, "inconclusive"),
        (1, "inconclusive"),
        (2, "pass"),
    ]


def test_a_written_plan_that_always_misses_is_given_up() -> None:
    assert len(outcomes_of(case_run_of(case(), Moody(lambda each: True)), 1)) == ATTEMPTS


@pytest.mark.parametrize(("demanded", "times"), [(1, ATTEMPTS), (2, 2)])
def test_a_plan_that_is_alone_is_asked_again_while_a_deciding_clause_had_nothing_to_decide(
    demanded: int, times: int
) -> None:
    idle = case_run_of(case(Decision("BAR-01", "CUT", ("order",), "A3")), ScriptedOracle("P"), ScriptedOracle("CUT"))
    assert [outcome for _, outcome in outcomes_of(idle, demanded)] == ["pass"] * times
    busy = case_run_of(case(Decision("BAR-01", "CUT", ("clause",), "A3")), ScriptedOracle("CUT"))
    assert len(outcomes_of(busy, demanded)) == demanded


def test_a_drawn_plan_that_missed_is_replaced_by_the_next_draw() -> None:
    doubts = Moody(lambda each: each.draw_seed in (5, 7))
    runs = outcomes_of(case_run_of(case(plan=drawn), ScriptedOracle("P"), doubts, first_seed=5), 3)
    assert runs == [(5, "inconclusive"), (6, "pass"), (7, "inconclusive"), (8, "pass"), (9, "pass")]


def test_a_campaign_that_only_misses_ends() -> None:
    assert 10 < len(outcomes_of(case_run_of(case(plan=drawn), Moody(lambda each: True)), 10)) < 60


def test_an_interruption_ends_it_after_the_run() -> None:
    begun = []

    def generate(seed: int) -> Plan:
        begun.append(seed)
        return drawn(seed)

    case_run = case_run_of(case(plan=generate), interrupted=lambda: "x" if len(begun) > 1 else "")
    assert len(outcomes_of(case_run, 100)) == 2


def test_a_run_that_breaks_the_harness_is_counted_and_the_next_one_runs() -> None:
    broken = run_once(case_run_of(case(), system=Breaks()), 0).result
    assert (broken.outcome, broken.reason) == (Outcome.INCONCLUSIVE, "harness error: KeyError: 'boom'")


def test_a_system_that_does_not_ship_breaks_its_own_run() -> None:
    """As far as names tell, this module is somebody else's."""

    class Theirs(ScriptedSystem):
        def claims(self, plan: Plan) -> Claims:
            raise KeyError("boom")

    Theirs.__module__ = "somebodys"
    broken = run_once(case_run_of(case(), system=Theirs()), 0).result
    assert broken.outcome is Outcome.FAIL
    assert broken.reason.startswith("system somebodys:")
    assert "raised KeyError: 'boom' (test_campaign.py:" in broken.reason
    assert broken.reason.endswith(" in claims")


def test_real_tiers_get_a_folder_that_holds_the_plan_before_anything_happens(tmp_path: Path) -> None:
    finished = run_once(case_run_of(case(plan=KILLED), tier=Tier.PROCESS, folder=tmp_path), 0)
    assert finished.part is not None
    assert finished.part.match(PARTS)
    assert {path.name for path in finished.part.iterdir()} == {"owner.json", "plan.json", "undo.jsonl", "work"}


def test_the_store_keeps_failures_examples_and_every_real_run(tmp_path: Path) -> None:
    failing = case_run_of(case(plan=drawn), ScriptedOracle("F", Outcome.FAIL))
    store = RunStore(tmp_path, failing.tools.faults)
    kept = [store.keep(finished, failing) for finished in run_until(failing, 20)]
    assert [each is not None for each in kept] == [True] * LIMITS[Outcome.FAIL] + [False] * (20 - LIMITS[Outcome.FAIL])
    assert kept[0] is not None
    assert kept[0].artefacts == "runs/area-case-sim-0000"
    assert kept[0].replay == f"holdfast replay {tmp_path.name}/runs/area-case-sim-0000 --trust"
    assert kept[0].timeline is not None
    real = case_run_of(case(), tier=Tier.PROCESS, folder=store.runs)
    assert all(store.keep(finished, real) for finished in run_until(real, 3))
    assert sorted(path.name for path in store.runs.iterdir() if "process" in path.name) == [
        f"area-case-process-000{number}" for number in range(3)
    ]


@pytest.mark.parametrize(("keep", "stored"), [(Keep.EXAMPLE, [True, True]), (Keep.OPEN, [False])])
def test_the_store_keeps_the_first_run_of_which_an_oracle_notes_something(
    tmp_path: Path, keep: Keep, stored: list[bool]
) -> None:
    class Informing(ScriptedOracle):
        def judge(self, history: History) -> Verdict:
            note = (f"run {history.plan.run_seed}",) if history.plan.run_seed >= 5 else ()
            return replace(super().judge(history), information=note)

    case_run = case_run_of(case(plan=drawn), Informing("I"))
    store = RunStore(tmp_path, case_run.tools.faults, keep)
    kept = [each for finished in run_until(case_run, 9) if (each := store.keep(finished, case_run)) is not None]
    assert [each.run_seed for each in kept] == [1, 5][: len(stored)]
    assert [bool(each.artefacts) for each in kept] == stored


@pytest.mark.parametrize(
    ("keep", "stored"), [(Keep.ALL, [True, True, True]), (Keep.EXAMPLE, [True, False, False]), (Keep.OPEN, [False] * 3)]
)
def test_a_run_on_a_real_tier_that_is_not_stored_is_a_line_with_its_recoveries(
    keep: Keep, stored: list[bool], tmp_path: Path
) -> None:
    store = RunStore(tmp_path, case_run_of(case()).tools.faults, keep)
    real = case_run_of(case(plan=KILLED), tier=Tier.PROCESS, folder=store.runs)
    kept = [store.keep(run_once(real, 0, serial=number), real) for number in range(3)]
    assert [bool(each and each.artefacts) for each in kept] == stored
    assert [[attack.attack for attack in each.recoveries] for each in kept if each is not None] == [["kill worker"]] * 3
    assert len(list(store.runs.iterdir())) == sum(stored)
    failing = case_run_of(case(), ScriptedOracle("F", Outcome.FAIL), tier=Tier.PROCESS, folder=store.runs)
    found = [store.keep(run_once(failing, 0, serial=number), failing) for number in range(10, 17)]
    limited = LIMITS[Outcome.FAIL] if keep is not Keep.ALL else len(found)
    assert [bool(each and each.artefacts) for each in found] == [number < limited for number in range(len(found))]


@pytest.mark.parametrize(("tier", "attacks"), [(Tier.PROCESS, ["kill worker"]), (Tier.SIM, [])])
def test_recoveries_are_kept_of_runs_that_took_real_time(tmp_path: Path, tier: Tier, attacks: list[str]) -> None:
    case_run = case_run_of(case(plan=KILLED), tier=tier, folder=tmp_path / RUNS)
    kept = RunStore(tmp_path, case_run.tools.faults).keep(run_once(case_run, 0), case_run)
    assert kept is not None
    assert kept.landed == {"kill worker": 1}
    assert [each.attack for each in kept.recoveries] == attacks


@pytest.mark.nightly
@pytest.mark.parametrize("demanded", [30])
def test_worker_processes_give_the_same_results_in_the_same_order(demanded: int) -> None:
    """With the reference runtime, because worker processes look system and case up by name."""
    from holdfast.harness.engine.cases.swarm_case import swarm_case
    from holdfast.harness.engine.site import registry

    system = registry.system("reference")
    case_run = CaseRun(swarm_case(system), system, Tier.SIM, registry.toolbox())
    alone, together = outcomes_of(case_run, demanded), outcomes_of(case_run, demanded, jobs=2)
    assert alone == together
    assert len(alone) >= demanded


def test_a_negative_control_is_asked_of_its_own_system_and_of_no_other() -> None:
    control = case(plan=replace(plan(), system="reference+D1"), expected=Outcome.FAIL)
    assert system_under_test(control, registry.system("reference"), 1).name == "reference+D1"
    with pytest.raises(NotApplicable, match=r"a wrong reference, and persists-first is none"):
        system_under_test(control, registry.system("persists-first"), 1)


def test_any_other_case_is_asked_of_the_system_on_trial() -> None:
    system = ScriptedSystem()
    assert system_under_test(case(), system, 1) is system


SMALL = 4
WRONG = "reference+A3"
"""Its barriers overtake records, which the swarm sees often."""


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_campaign, "CHUNK", SMALL)


def campaign_over(
    folder: Path, last: int, *, chunks: int = 1_000, jobs: int = 1, system: str = "reference"
) -> LongCampaign:
    """A campaign over seeds 1 to `last`, broken off after so many chunks."""
    campaign = LongCampaign(system, (1, last), folder)
    with campaign.ledger:
        for number, _ in enumerate(campaign.draw(jobs, never_interrupted), 1):
            if number == chunks:
                break
    return campaign


@pytest.mark.usefixtures("small_chunks")
def test_broken_off_it_goes_on_and_comes_to_the_same(tmp_path: Path) -> None:
    whole = campaign_over(tmp_path / "whole", 14)
    campaign_over(tmp_path / "parts", 9, chunks=1)
    campaign_over(tmp_path / "parts", 9)
    parts = campaign_over(tmp_path / "parts", 14)
    assert parts.total() == whole.total()
    assert whole.total().drawn == 14
    assert [(chunk.first, chunk.last) for chunk in parts.ledger.chunks] == [(1, 4), (5, 8), (9, 9), (10, 13), (14, 14)]


@pytest.mark.usefixtures("small_chunks")
def test_worker_processes_come_to_the_same(tmp_path: Path) -> None:
    assert campaign_over(tmp_path / "two", 10, jobs=2).total() == campaign_over(tmp_path / "one", 10).total()


@pytest.mark.usefixtures("small_chunks")
def test_a_seed_that_is_missing_is_no_success(tmp_path: Path) -> None:
    assert campaign_over(tmp_path, 10, chunks=1).exit_code() == 2


@pytest.mark.usefixtures("small_chunks")
def test_a_line_that_was_cut_off_is_drawn_again(tmp_path: Path) -> None:
    before = campaign_over(tmp_path, 8).total()
    ledger = tmp_path / LEDGER
    ledger.write_bytes(ledger.read_bytes()[:-20])
    again = LongCampaign("reference", (1, 8), tmp_path)
    assert list(again.ledger.missing((1, 8))) == [(5, 8)]
    again.ledger.close()
    assert campaign_over(tmp_path, 8).total() == before


@pytest.mark.usefixtures("small_chunks")
def test_killed_it_loses_the_chunk_in_hand_and_its_folder_is_free(tmp_path: Path) -> None:
    program = (
        "from holdfast.harness import cli; from holdfast.harness.engine.exploration import long_campaign;"
        f"long_campaign.CHUNK = {SMALL};"
        f"cli.execute(['campaign', 'reference', '--seeds', '1-5000', '--out', {str(tmp_path)!r}])"
    )
    with Started.python(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        assert becomes(lambda: (tmp_path / LEDGER).exists() and bool((tmp_path / LEDGER).read_bytes()), 60)
        with pytest.raises(UsageError, match="a campaign is running in it"):
            Ledger(tmp_path, "reference")
    with Ledger(tmp_path, "reference") as left:
        last = left.chunks[-1].last
    assert campaign_over(tmp_path, last + 1).total() == campaign_over(tmp_path / "whole", last + 1).total()


@pytest.mark.usefixtures("small_chunks")
def test_an_alarm_is_stored_with_its_plan_and_stands_until_that_raises_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alarming = campaign_over(tmp_path, 12, system=WRONG)
    assert alarming.exit_code() == 1
    seeds = list(alarming.open_alarms())
    assert cli.execute(["run", str(alarming.ledger.plan_of(seeds[0])), "--tier", "sim", "--out", str(tmp_path)]) == 1
    assert retried(tmp_path) == []
    monkeypatch.setattr(long_campaign, "fingerprint", lambda *_: "other")
    assert retried(tmp_path) == seeds
    assert campaign_over(tmp_path, 12, system=WRONG).exit_code() == 1
    monkeypatch.setattr(long_campaign, "fingerprint", lambda *_: "mended")
    assert retried(tmp_path, mended=True) == seeds
    assert campaign_over(tmp_path, 12, system=WRONG).open_alarms() == {}


@pytest.mark.usefixtures("small_chunks")
def test_an_alarm_can_be_withdrawn_with_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alarming = campaign_over(tmp_path, 12, system=WRONG)
    command = ["campaign", WRONG, "--seeds", "1-12", "--out", str(tmp_path)]
    for seed in alarming.open_alarms():
        command += ["--withdraw", f"{seed}=it is wrong on purpose"]
    cli.execute(command)
    said = capsys.readouterr().out
    assert "\n0 alarms; " in said
    assert said.count("it is wrong on purpose") == len(alarming.open_alarms()) > 0
    with pytest.raises(UsageError, match="unknown alarm of seed '99'"):
        LongCampaign(WRONG, (1, 12), tmp_path).withdraw(99, "why not")


def retried(folder: Path, *, mended: bool = False) -> list[int]:
    """The seeds whose plans are tried again, by the wrong runtime or by one that was mended."""
    campaign = LongCampaign(WRONG, (1, 12), folder)
    if mended:
        campaign._system = registry.system("reference")
    with campaign.ledger:
        return [retrial.seed for retrial in campaign.try_again()]


@pytest.mark.usefixtures("small_chunks")
def test_a_folder_belongs_to_one_system(tmp_path: Path) -> None:
    campaign_over(tmp_path, 1)
    with pytest.raises(UsageError, match="it holds a campaign of reference; choose another one"):
        LongCampaign(WRONG, (1, 1), tmp_path)
    campaign_over(tmp_path, 2)


@pytest.mark.usefixtures("small_chunks")
def test_the_command_says_what_it_comes_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.execute(["campaign", "reference", "--seeds", "1-5", "--out", str(tmp_path)])
    said = capsys.readouterr().out
    assert "5 seeds drawn" in said
    assert "\n0 alarms; " in said
    assert cli.execute(["campaign", "reference", "--seeds", "1-5", "--out", str(tmp_path)]) == code
    assert capsys.readouterr().out == said
    report = (tmp_path / "report.txt").read_text()
    assert all(title in report for title in ("Faults that took effect", "Pairs of faults"))


@pytest.mark.usefixtures("small_chunks")
def test_the_command_says_how_many_seeds_ran_earlier_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["campaign", "reference", "--out", str(tmp_path), "--seeds"]
    cli.execute([*command, "1-3"])
    assert "earlier version" not in capsys.readouterr().out
    monkeypatch.setattr(long_campaign, "fingerprint", lambda *_: "other")
    cli.execute([*command, "1-4"])
    assert "\n3 seeds ran earlier versions of the code; another folder (--out) draws them again\n" in (
        capsys.readouterr().out
    )


@pytest.mark.usefixtures("small_chunks")
def test_a_window_that_nothing_wanted_has_no_share(capsys: pytest.CaptureFixture[str]) -> None:
    """A hit that no fault aimed at and no case demands counted as one of one: 100 %."""
    counts, wanted = Counts(), Window.RESTORED_STATE
    for hit in (True, False):
        windows = {wanted.value: hit} | ({Window.OVERTAKING.value: True} if hit else {})
        counts.add(result(windows=windows), plan(), (wanted,))
    assert counts.hit == {"restored-state": 1, "overtaking": 1}
    assert counts.aimed == {"restored-state": 2, "overtaking": 0}
    campaign._table(console.results(), "Windows", counts.hit, counts.aimed)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[2:] == ["1 of - - overtaking", "1 of 2 50.0 % restored-state"]


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize(("system", "last"), [("reference+A3", "sim"), ("mine:engine", "--trust")])
def test_the_command_of_an_alarm_runs_as_it_stands(system: str, last: str) -> None:
    """A plan file that names code outside the installed packages is run with permission only."""
    assert campaign._again(Path("alarms/7.json"), system).split()[-1] == last
