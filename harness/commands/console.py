"""Where commands write: results to standard output, progress to standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Set
from pathlib import Path
from typing import IO, cast

from rich.console import Console
from rich.text import Text

from holdfast.harness.commands.standard_streams import LastingStream, result_stream
from holdfast.harness.engine.artefacts.sweep import unfinished
from holdfast.harness.engine.site.services import abandoned_services
from holdfast.harness.model.command_line import command_line
from holdfast.harness.model.finding import Finding
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.status import ON_ITS_WORD, OUTCOME_STYLES
from holdfast.harness.model.verdict import Outcome, Verdict

EXIT_CODES = {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.INCONCLUSIVE: 2}


def results(*, soft_wrap: bool = True) -> Console:
    """Standard output."""
    return plain(_text(result_stream()), soft_wrap=soft_wrap)


def print_json(text: str) -> None:
    """Print a result for a program, unchanged."""
    results().out(text, highlight=False, end="" if text.endswith("\n") else "\n")


def progress() -> Console:
    """Standard error."""
    return plain(_text(LastingStream(sys.stderr)), soft_wrap=True)


def plain(file: IO[str], *, width: int | None = None, soft_wrap: bool = False) -> Console:
    """A console that prints a string as it is: paths and reasons may hold brackets and colons. Styles are Texts'."""
    return Console(file=file, width=width, highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap)


def _text(stream: LastingStream) -> IO[str]:
    """The library's name for what it writes to, which asks for more than it uses."""
    return cast("IO[str]", stream)


def say_outcome(console: Console, outcome: Outcome, reason: str) -> None:
    """PASS, or what else and why."""
    console.print(Text(outcome.value.upper(), OUTCOME_STYLES[outcome]) + Text(f": {reason}" if reason else ""))


def say_verdicts(
    console: Console, verdicts: tuple[Verdict, ...], titles: Mapping[str, str], on_its_word: Set[str]
) -> None:
    """Print a line for each oracle with its anomalies below; last, how many rest on the system's own reports alone.

    Args:
        console: where.
        verdicts: on one run.
        titles: of oracles, by their names.
        on_its_word: clauses, as `ORACLE/clause`, that rest on what the system under test records of itself.
    """
    width = max((len(titles.get(verdict.oracle, "")) for verdict in verdicts), default=0)
    for verdict in verdicts:
        decided = f"{sum(verdict.checked.values())} decided" if verdict.checked else verdict.reason
        decided += ", on its word" if verdict.rests_on(on_its_word) else ""
        line = Text(f"  {verdict.oracle:<8} {titles.get(verdict.oracle, ''):<{width}}  ")
        line += Text(f"{verdict.outcome.value:<13}", OUTCOME_STYLES[verdict.outcome])
        console.print(line + Text(decided))
        for anomaly in verdict.anomalies:
            console.print(Text(f"    {verdict.oracle}/{anomaly.clause}: {anomaly.message}"))
            for witness in anomaly.witness:
                console.print(Text(f"      {witness}", "dim"))
        for note in verdict.information:
            console.print(Text(f"    {note}", "dim"))
    decisive = [verdict for verdict in verdicts if verdict.checked or verdict.anomalies]
    if words := sum(verdict.rests_on(on_its_word) for verdict in decisive):
        rest = f"{plural(len(decisive), 'verdict')} {'rests' if words == 1 else 'rest'}"
        console.print(f"{words} of {rest} on {ON_ITS_WORD}")


def say_finding(console: Console, finding: Finding) -> None:
    """Print what broke, when and why."""
    for name, words in (("what", finding.what), ("when", finding.when), ("why", finding.why)):
        console.print(Text(f"  {name:<6}") + Text(words, "bold" if name == "what" else ""))


def offer_sweep(console: Console, root: Path) -> None:
    """Say it if a harness that was killed left something, below an output folder or of what it had started."""
    sweep = command_line("sweep", root)
    if left := len(unfinished(root)):
        console.print(f"{left} {'run was' if left == 1 else 'runs were'} cut off earlier: {sweep}")
    if gone := abandoned_services():
        console.print(f"sessions that are gone left {plural(len(gone), 'thing')}, {gone[0]} first: {sweep}")
