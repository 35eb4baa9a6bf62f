"""What is in force where nobody says otherwise, and how each value is written to be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdfast.harness.model.profile import FLINK_1_14, FLINK_2, OPTIONS, PROFILE, STRATEGY, TUNED, UNLIMITED, Kind
from holdfast.harness.model.units import duration_ms, size_bytes


def _duration(text: str) -> str:
    return f"{duration_ms(text)} ms"


def _size(text: str) -> str:
    return f"{size_bytes(text)} b"


def _number(text: str) -> str:
    return str(int(text))


def _attempts(text: str) -> str:
    return str(UNLIMITED) if text == "infinite" else _number(text)


def _decimal(text: str) -> str:
    return str(float(text))


def _constant(text: str) -> str:
    return text.upper().replace("-", "_")


def _name(text: str) -> str:
    """Names do not heed case; a factory of somebody else (`module:name`) does."""
    return text if ":" in text else text.lower()


_STRATEGIES = {"off": "none", "disable": "none", **{name.replace("-", ""): name for name in TUNED}}


def _strategy(text: str) -> str:
    return _STRATEGIES.get(text.lower(), text.lower())


_Normal = Callable[[str], str]
_OF_KIND: Mapping[Kind, _Normal] = {
    Kind.DURATION: _duration,
    Kind.SIZE: _size,
    Kind.NUMBER: _number,
    Kind.ATTEMPTS: _attempts,
    Kind.DECIMAL: _decimal,
    Kind.FLAG: str.lower,
    Kind.NAME: _name,
    Kind.CONSTANT: _constant,
    Kind.TEXT: str,
}
NORMAL: Mapping[str, _Normal] = {**{key: _OF_KIND[option.kind] for key, option in OPTIONS.items()}, STRATEGY: _strategy}
"""How a value is written, by key."""
DEFAULTS: Mapping[str, Mapping[str, str]] = {
    version: {key: NORMAL[key](option.default_of(version)) for key, option in OPTIONS.items()} | {PROFILE: version}
    for version in (FLINK_2, FLINK_1_14)
}
"""By version, what is in force where nobody says otherwise."""
