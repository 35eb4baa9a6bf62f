"""A long campaign: broken off it goes on, what it found adds up, and an alarm stands until its plan raises none."""

from __future__ import annotations

import subprocess
import time  # noqa: TID251 - a process of ours is waited for
from pathlib import Path

import pytest

from holdfast.harness import cli
from holdfast.harness.commands import campaign, console
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import uninterrupted
from holdfast.harness.engine.exploration import long_campaign
from holdfast.harness.engine.exploration.counts import Counts
from holdfast.harness.engine.exploration.ledger import LEDGER, Ledger
from holdfast.harness.engine.exploration.long_campaign import LongCampaign
from holdfast.harness.engine.site import registry
from holdfast.harness.model.window import Window
from holdfast.suites.selfcheck.engine.results import result
from holdfast.suites.selfcheck.engine.scripted import plan
from holdfast.suites.selfcheck.started import Started

SMALL = 4
WRONG = "reference+A3"
"""Its barriers overtake records, which the swarm sees often."""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_campaign, "CHUNK", SMALL)


def drawn(folder: Path, last: int, *, chunks: int = 1_000, jobs: int = 1, system: str = "reference") -> LongCampaign:
    """A campaign over seeds 1 to `last`, broken off after so many chunks."""
    campaign = LongCampaign(system, (1, last), folder)
    with campaign.ledger:
        for number, _ in enumerate(campaign.draw(jobs, uninterrupted), 1):
            if number == chunks:
                break
    return campaign


def test_broken_off_it_goes_on_and_comes_to_the_same(tmp_path: Path) -> None:
    whole = drawn(tmp_path / "whole", 14)
    drawn(tmp_path / "parts", 9, chunks=1)
    drawn(tmp_path / "parts", 9)
    parts = drawn(tmp_path / "parts", 14)
    assert parts.total() == whole.total()
    assert whole.total().drawn == 14
    assert [(chunk.first, chunk.last) for chunk in parts.ledger.chunks] == [(1, 4), (5, 8), (9, 9), (10, 13), (14, 14)]


def test_worker_processes_come_to_the_same(tmp_path: Path) -> None:
    assert drawn(tmp_path / "two", 10, jobs=2).total() == drawn(tmp_path / "one", 10).total()


def test_a_seed_that_is_missing_is_no_success(tmp_path: Path) -> None:
    assert drawn(tmp_path, 10, chunks=1).exit_code() == 2


def test_a_line_that_was_cut_off_is_drawn_again(tmp_path: Path) -> None:
    before = drawn(tmp_path, 8).total()
    ledger = tmp_path / LEDGER
    ledger.write_bytes(ledger.read_bytes()[:-20])
    again = LongCampaign("reference", (1, 8), tmp_path)
    assert list(again.ledger.missing((1, 8))) == [(5, 8)]
    again.ledger.close()
    assert drawn(tmp_path, 8).total() == before


def test_killed_it_loses_the_chunk_in_hand_and_its_folder_is_free(tmp_path: Path) -> None:
    program = (
        "from holdfast.harness import cli; from holdfast.harness.engine.exploration import long_campaign;"
        f"long_campaign.CHUNK = {SMALL};"
        f"cli.execute(['campaign', 'reference', '--seeds', '1-5000', '--out', {str(tmp_path)!r}])"
    )
    with Started.python(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        until = time.monotonic() + 60
        while not ((tmp_path / LEDGER).exists() and (tmp_path / LEDGER).read_bytes()) and time.monotonic() < until:
            time.sleep(0.01)
        with pytest.raises(UsageError, match="a campaign is running in it"):
            Ledger(tmp_path, "reference")
    with Ledger(tmp_path, "reference") as left:
        last = left.chunks[-1].last
    assert drawn(tmp_path, last + 1).total() == drawn(tmp_path / "whole", last + 1).total()


def test_an_alarm_is_stored_with_its_plan_and_stands_until_that_raises_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alarming = drawn(tmp_path, 12, system=WRONG)
    assert alarming.exit_code() == 1
    seeds = list(alarming.open_alarms())
    assert cli.execute(["run", str(alarming.ledger.plan_of(seeds[0])), "--tier", "sim", "--out", str(tmp_path)]) == 1
    assert retried(tmp_path) == []
    monkeypatch.setattr(long_campaign, "fingerprint", lambda *_: "other")
    assert retried(tmp_path) == seeds
    assert drawn(tmp_path, 12, system=WRONG).exit_code() == 1
    monkeypatch.setattr(long_campaign, "fingerprint", lambda *_: "mended")
    assert retried(tmp_path, mended=True) == seeds
    assert drawn(tmp_path, 12, system=WRONG).open_alarms() == {}


def test_an_alarm_can_be_withdrawn_with_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alarming = drawn(tmp_path, 12, system=WRONG)
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


def test_a_folder_belongs_to_one_system(tmp_path: Path) -> None:
    drawn(tmp_path, 1)
    with pytest.raises(UsageError, match="it holds a campaign of reference; choose another one"):
        LongCampaign(WRONG, (1, 1), tmp_path)
    drawn(tmp_path, 2)


def test_the_command_says_what_it_comes_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = cli.execute(["campaign", "reference", "--seeds", "1-5", "--out", str(tmp_path)])
    said = capsys.readouterr().out
    assert "5 seeds drawn" in said
    assert "\n0 alarms; " in said
    assert cli.execute(["campaign", "reference", "--seeds", "1-5", "--out", str(tmp_path)]) == code
    assert capsys.readouterr().out == said
    report = (tmp_path / "report.txt").read_text()
    assert all(title in report for title in ("Faults that took effect", "Pairs of faults"))


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


@pytest.mark.parametrize(("system", "last"), [("reference+A3", "sim"), ("mine:engine", "--trust")])
def test_the_command_of_an_alarm_runs_as_it_stands(system: str, last: str) -> None:
    """A plan file that names code outside the installed packages is run with permission only."""
    assert campaign._again(Path("alarms/7.json"), system).split()[-1] == last
