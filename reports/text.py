"""How values are written for people: numbers, durations, moments, names."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from holdfast.harness.model.journal import Status
from holdfast.harness.model.rule import Decidability, Level, Subject
from holdfast.harness.model.status import STATUS_WORDS

STATUS_MARKS = {
    Status.PASS: "✓",
    Status.NOT_APPLICABLE: "–",
    Status.WAIVED: "~",
    Status.UNTESTED: "·",
    Status.UNOBSERVED: "◦",
    Status.INCONCLUSIVE: "?",
    Status.ERROR: "!",
    Status.FAIL: "✕",
}
STATUS_MEANINGS = {
    Status.PASS: "every case that decides it passed",
    Status.NOT_APPLICABLE: "needs a capability that the system does not declare",
    Status.WAIVED: "set aside with a reason and an expiry",
    Status.UNTESTED: "no case decides it, or not all of its cases ran",
    Status.UNOBSERVED: "the system does not supply the evidence that it needs",
    Status.INCONCLUSIVE: "too few runs counted, or a window was never hit",
    Status.ERROR: "the harness failed, not the system",
    Status.FAIL: "refuted, with a command that repeats the run",
}
SUBJECT_WORDS = {
    Subject.RUNTIME: "runtime",
    Subject.STATE_BACKEND: "state backend",
    Subject.CHECKPOINT_STORAGE: "checkpoint storage",
    Subject.SOURCE: "source",
    Subject.SINK: "sink",
    Subject.RESTART_STRATEGY: "restart strategy",
    Subject.FILE_SYSTEM: "file system",
    Subject.PIPELINE: "pipeline",
}
DECIDABILITY_WORDS = {
    Decidability.SCRIPTED: "one scripted run decides",
    Decidability.TRACE: "an event trace decides",
    Decidability.BEHAVIOUR: "outputs alone decide",
    Decidability.STATISTICAL: "a campaign decides",
}
LEVEL_MEANINGS = {
    Level.MUST: "decides the title",
    Level.SHOULD: "reported, does not decide the title",
    Level.MAY: "optional",
}
# Of C0, C1 and the surrogates only tab and line feed are legal in XML 1.0 and harmless in a terminal.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

LONG = 320
"""Characters beyond which a sentence is shown in part first."""
_MARKUP = re.compile(r"([\\`*_\[\]<>|~#$])")


def clean(text: str) -> str:
    """Text without control characters, for formats that cannot carry them (XML) or must not obey them (terminals)."""
    return _UNPRINTABLE.sub("�", text)


def one_line(text: str, limit: int = 0) -> str:
    """Text on one line, cut at a limit of characters; 0: at none."""
    line = " ".join(clean(text).split())
    return line if not limit or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def beginning(words: str) -> str:
    """What is shown first of a sentence that may list very many names; the sentence itself if it is not long."""
    line = one_line(words)
    return line if len(line) <= LONG else f"{line[:LONG].rpartition(' ')[0]} …"


def markdown(words: str) -> str:
    """Text on one line that Markdown takes as text: no markup, no end of a table cell, no formula."""
    return _MARKUP.sub(r"\\\1", one_line(words))


def count(number: float) -> str:
    """A count with its thousands marked: 10,412."""
    return f"{number:,.0f}" if math.isfinite(number) else "?"


def whole_number(number: float) -> int:
    """The nearest whole number; 0 for what is none, because a format that wants a number must get one."""
    return round(number) if math.isfinite(number) else 0


def statuses_in_words(counts: Mapping[Status, int]) -> str:
    """`1 fail, 12 pass`, in their order; what is 0 is left out."""
    return ", ".join(f"{count(number)} {STATUS_WORDS[status]}" for status, number in counts.items() if number)


def plural(number: int, noun: str, more: str = "") -> str:
    """`1 run`, `10,412 runs`."""
    return f"{count(number)} {noun if number == 1 else more or noun + 's'}"


def size(octets: float) -> str:
    """A number of bytes as a person would say it, in units of 1024: 12.3 KiB."""
    if not math.isfinite(octets):
        return "unknown"
    if abs(octets) < 1_024:
        return f"{octets:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        octets /= 1_024
        if abs(octets) < 1_000:
            return f"{octets:.3g} {unit}"
    return f"{octets / 1_024:,.3g} TiB"


def percent(share: float) -> str:
    """A share of one, with two digits that count: 0.029 %."""
    return f"{share * 100:.2g} %" if 0 < share < 0.995 else f"{share:.0%}".replace("%", " %")


def moment(stamp: str) -> str:
    """A time of the journal, to the minute, in UTC; as it stands if it is not ISO 8601."""
    parsed = _parse(stamp)
    return f"{parsed:%Y-%m-%d %H:%M} UTC" if parsed else one_line(stamp)


def second(stamp: str) -> str:
    """A time of the journal to the second, without a zone, as JUnit wants it; empty if it is not ISO 8601."""
    parsed = _parse(stamp)
    return f"{parsed:%Y-%m-%dT%H:%M:%S}" if parsed else ""


def epoch_milliseconds(stamp: str) -> int:
    """A time of the journal in milliseconds since 1970; 0 if it is not ISO 8601."""
    parsed = _parse(stamp)
    return round(parsed.timestamp() * 1_000) if parsed else 0


def _parse(stamp: str) -> datetime | None:
    try:
        parsed = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)


def short_name(factory: str) -> str:
    """What a factory is called: of `module:name` the name."""
    module, _, name = factory.rpartition(":")
    return name if module and "/" not in name else factory


def subject_words(subject: str) -> str:
    """`RT` is `runtime`; an unknown subject speaks for itself."""
    return next((words for known, words in SUBJECT_WORDS.items() if known == subject), subject)


def slug(*parts: str) -> str:
    """A fragment that a link can name, from any text."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(parts))
