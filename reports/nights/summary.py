"""`summary.md` of a night: what a CI server shows beside the build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from holdfast.harness.model.night import LatestNight, Night, NightFinding
from holdfast.harness.model.units import duration
from holdfast.reports import text
from holdfast.reports.files import write_file
from holdfast.reports.finding import paste
from holdfast.reports.summary import fence


class NightSummaryReporter:
    """Each system in a line of a table, then each finding with its command."""

    name = "summary"
    shows = LatestNight
    writes = "summary.md"

    def render(self, latest: LatestNight, folder: Path) -> Path:
        return write_file(folder / self.writes, "".join(_lines(latest.night)))


def _lines(night: Night) -> Iterator[str]:
    yield f"# Night {text.markdown(night.name)}\n\n"
    took = duration(night.duration_s * 1_000)
    yield f"Seed {night.seed}, started {text.moment(night.started)}, took {took}.\n\n"
    if night.interrupted:
        yield f"**Interrupted by {text.markdown(night.interrupted)}**: this is what was found until then.\n\n"
    yield "| System | Certificate | Runs | Inconclusive | Findings | Waived |\n"
    yield "| --- | --- | ---: | ---: | ---: | ---: |\n"
    for system in night.systems:
        failing = sum(each.counts for each in system.findings)
        numbers = (system.total_runs, system.inconclusive_runs, failing, len(system.findings) - failing)
        cells = (text.markdown(system.system), system.heading, *map(text.count, numbers))
        yield f"| {' | '.join(cells)} |\n"
    yield from (f"\n{text.markdown(sentence)}\n" for sentence in night.expired)
    found = [finding for system in night.systems for finding in system.findings]
    if where := paste(finding.next for finding in found if finding.next):
        yield f"\n{where}\n"
    yield from map(_finding, found)
    yield "\nThe page is `report.html`; every number is in `night.json`.\n"


def _finding(finding: NightFinding) -> str:
    head = f"\n## {text.markdown(str(finding.signature))}\n\n{text.markdown(finding.what)}\n\n"
    again = f", again in {finding.reruns}" if finding.reruns is not None else ""
    lines = [head, f"Seen in {text.plural(finding.runs, 'run')}{again}.\n"]
    if finding.waived is not None:
        words = "The waiver expired on" if finding.waived.expired else "Waived until"
        lines.append(f"\n{words} {finding.waived.expires}: {text.markdown(finding.waived.reason)}\n")
    if finding.next:
        lines.append(f"\n{fence(finding.next)}")
    return "".join(lines)
