"""`report.html` of a night: its systems, what was refuted on each, and where their certificates lie."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from holdfast.harness.model.night import LatestNight, Night
from holdfast.reports import pages
from holdfast.reports.files import write_file

STYLE_SHEETS = ("report.css", "nights.css")


class NightPageReporter:
    """One page; each certificate is a link away."""

    name = "html"
    shows = LatestNight
    writes = "report.html"

    def render(self, latest: LatestNight, folder: Path) -> Path:
        return write_file(folder / self.writes, page(latest.night))


def page(night: Night) -> str:
    style = Markup("\n" + "".join(map(pages.asset, STYLE_SHEETS)))
    return (
        _environment()
        .get_template("night.html.j2")
        .render(
            night=night,
            style=style,
            style_hash=pages.hash_of(style),
            failing=[each for system in night.systems for each in system.findings if each.counts],
            waived=[each for system in night.systems for each in system.findings if not each.counts],
        )
    )


@cache
def _environment() -> Environment:
    environment = pages.environment()
    environment.filters.update(link=pages.report_in)
    return environment
