"""What every page has in common: templates, style sheets, and a policy that lets in nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from holdfast.harness.model.units import duration
from holdfast.reports import text
from holdfast.reports.svg import element


def environment() -> Environment:
    """Templates of `templates/`; what they show is escaped, and what they name must be there. The filters are those
    that every page has."""
    made = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        clean=text.clean,
        count=text.count,
        duration=duration,
        moment=text.moment,
        plural=text.plural,
        prose=prose,
    )
    return made


@cache
def asset(name: str) -> str:
    return resources.files("holdfast.reports").joinpath("templates", name).read_text(encoding="utf-8")


def hash_of(content: str) -> str:
    """What the page's own policy lets in: this style, this script, nothing else, so a hostile journal cannot act."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def report_in(folder: str) -> str:
    """The link to the page of a night or a certificate, from the folder that holds its folder."""
    return f"{quote(folder)}/report.html"


def prose(words: str) -> Markup:
    """Text with its `names` set as code."""
    parts = re.split(r"`([^`\n]+)`", text.clean(words))
    return Markup("").join(element("code", part) if index % 2 else part for index, part in enumerate(parts))
