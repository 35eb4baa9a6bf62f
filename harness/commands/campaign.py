"""`holdfast campaign`: many drawn plans; interrupted campaigns resume, and results accumulate over runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.apart import runs_apart
from holdfast.harness.commands.own_process import run_ended
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.exploration.ledger import Seeds
from holdfast.harness.engine.exploration.long_campaign import LongCampaign
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption, listening
from holdfast.harness.engine.site.plan_code import third_party_code
from holdfast.harness.model.command_line import command_line
from holdfast.harness.model.sentence import plural

_SEEDS = re.compile(r"(\d+)-(\d+)")
REPORT = "report.txt"
"""In the folder of the campaign: the summary of all invocations."""
_REPORT_WIDTH = 160
_LINE_EVERY = 1_000
"""Seeds between two lines where there is no terminal."""


def run_campaign(
    system: str,
    seeds: str,
    folder: Path,
    jobs: int,
    withdrawals: Sequence[str],
    master: str = "",
    limit_s: float | None = None,
) -> int:
    """Draw what is missing, and show what all of it adds up to.

    Args:
        system: by name, with variant.
        seeds: FIRST-LAST.
        folder: of the campaign.
        jobs: processes that draw.
        withdrawals: alarms that do not count, as SEED=REASON.
        master: of Spark, whose executors draw; empty: this machine does.
        limit_s: how long a chunk of seeds may take of a system that does not ship with Holdfast.
    """
    if master and jobs > 1:
        raise UsageError(f"--jobs is {jobs} and --workers is {master!r}; only one of them can draw: leave one away.")
    wanted, given_up = _range(seeds), [_withdrawal(each) for each in withdrawals]
    if (code := runs_apart(third_party_code(system), folder, limit_s)) is not None:
        return code
    with listening() as interruption:
        campaign = LongCampaign(system, wanted, folder)
        with campaign.ledger:
            for seed, reason in given_up:
                campaign.withdraw(seed, reason)
            _draw(campaign, jobs, interruption, master)
            _show(campaign, consoles.results())
            with (campaign.ledger.folder / REPORT).open("w", encoding="utf-8") as file:
                _show(campaign, consoles.plain(file, width=_REPORT_WIDTH))
            return interruption.exit_code if interruption.signal else campaign.exit_code()


def _range(seeds: str) -> Seeds:
    match = _SEEDS.fullmatch(seeds)
    first, last = map(int, match.groups()) if match else (0, 0)
    if not 1 <= first <= last:
        raise UsageError(f"--seeds is {seeds!r}; allowed is FIRST-LAST, both counted from 1: write 1-100000.")
    return first, last


def _withdrawal(text: str) -> tuple[int, str]:
    seed, _, reason = text.partition("=")
    if not seed.isdigit() or not reason:
        raise UsageError(f"--withdraw is {text!r}; allowed is SEED=REASON: write 17=its plan is too short.")
    return int(seed), reason


def _draw(campaign: LongCampaign, jobs: int, interruption: Interruption, master: str) -> None:
    console = consoles.progress()
    first, last = campaign.wanted
    missing = sum(until - start + 1 for start, until in campaign.ledger.missing(campaign.wanted))
    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), MofNCompleteColumn())
    clocks = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *clocks, console=console, transient=True, disable=not console.is_terminal) as bar:
        for retrial in campaign.try_again():
            result = f"the alarm remains: {retrial.alarm}" if retrial.alarm else "no alarm with this version"
            console.print(f"seed {retrial.seed}, repeated: {result}")
        task = bar.add_task(campaign.code, total=last - first + 1, completed=last - first + 1 - missing)
        drawn = 0
        for chunk in campaign.draw(jobs, interruption.reason, master):
            run_ended()
            for seed, alarm in chunk.alarms.items():
                plan = campaign.ledger.plan_of(seed)
                bar.console.print(f"ALARM seed {seed}: {alarm}\n  {_again(plan, campaign.system)}")
            size = chunk.last - chunk.first + 1
            bar.advance(task, size)
            drawn += size
            if not console.is_terminal and drawn // _LINE_EVERY > (drawn - size) // _LINE_EVERY:
                console.print(f"{missing - drawn:,} seeds to go, {len(campaign.open_alarms())} alarms")


def _show(campaign: LongCampaign, console: Console) -> None:
    total, ledger = campaign.total(), campaign.ledger
    missing = sum(until - start + 1 for start, until in ledger.missing(campaign.wanted))
    by_code: Counter[str] = Counter()
    for chunk in ledger.chunks:
        by_code[chunk.code] += chunk.counts.drawn
    console.print(f"{total.drawn:,} seeds drawn in {ledger.folder}, {missing:,} of the wanted seeds are missing")
    _table(console, "Seeds by fingerprint of the code", by_code)
    outcomes = {"PASS": total.passed, "FAIL": total.failed, "INCONCLUSIVE": total.inconclusive}
    _table(console, "Runs by outcome", outcomes, dict.fromkeys(outcomes, total.drawn))
    _table(console, "Inconclusive runs by cause", total.causes, dict.fromkeys(total.causes, total.drawn))
    landed = {name: total.landed.get(name, 0) for name in total.planned}
    _table(console, "Faults that took effect, of those drawn", landed, total.planned)
    _table(console, "Pairs of faults that took effect in one run", total.together)
    _table(console, "Windows hit, of those aimed at or demanded", total.hit, total.aimed)
    _table(console, "Runs in which an oracle decided something", total.judged)
    for title, numbers in (("jobs", total.jobs), ("expected ends", total.ends), ("options", total.options)):
        _table(console, f"Runs by {title}", numbers)
    alarms = campaign.open_alarms()
    for seed, alarm in alarms.items():
        console.print(f"ALARM seed {seed}: {alarm}\n  {_again(ledger.plan_of(seed), campaign.system)}")
    for seed, reason in ledger.withdrawn.items():
        console.print(f"Withdrawn: seed {seed}, {reason}")
    mended = sum(not alarm for _, alarm in ledger.alarms.values())
    console.print(
        f"{plural(len(alarms), 'alarm')}; {plural(mended, 'earlier alarm')} "
        f"no longer {'occurs' if mended == 1 else 'occur'} with this version"
    )
    former = total.drawn - by_code[campaign.code]
    if former:
        ran = plural(former, "seed ran an earlier version", "seeds ran earlier versions")
        console.print(f"{ran} of the code; another folder (--out) draws them again")
    if total.passed and not ledger.alarms:
        bound = 3 / total.passed
        console.print(
            f"not refuted in {plural(total.passed, 'decided run')} of {total.drawn:,} drawn plans; at 95 % confidence "
            f"at most {bound:.1e} of decided runs fail"
        )


def _again(plan: Path, system: str) -> str:
    """The command that runs the plan of an alarm."""
    trust = ("--trust",) if registry.needs_trust(system, repeats=True) else ()
    return command_line("run", plan, "--tier", "sim", *trust)


def _table(console: Console, title: str, numbers: Mapping[str, int], of: Mapping[str, int] | None = None) -> None:
    """Most first; with the share of another number where that is given, a dash where there is none."""
    if not numbers:
        return
    console.print(f"\n{title}")
    for name, number in sorted(numbers.items(), key=lambda each: (-each[1], each[0])):
        whole = of.get(name, 0) if of else 0
        share = (
            f" of {whole:>9,}  {100 * number / whole:5.1f} %" if whole else f" of {'-':>9}  {'-':>5}  " if of else ""
        )
        console.print(f"  {number:>9,}{share}  {name}")
