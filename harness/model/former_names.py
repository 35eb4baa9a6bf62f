"""Clauses that were renamed, under the names by which stored results and cases of other packages may still know them.

They are read for one release: 0.2 drops them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CLAUSES: Mapping[str, str] = MappingProxyType(
    {
        "COORD/abort-not-told": "COORD/abort-not-notified",
        "COORD/told-before-durable": "COORD/notified-before-durable",
        "COUNT/cause-not-told": "COUNT/cause-not-reported",
        "FENCE/superseded-heard": "FENCE/superseded-notified",
        "FINAL/asked-wrongly": "FINAL/wrong-participants",
        "RETAIN/start-not-told": "RETAIN/start-not-reported",
    }
)
"""From the former `ORACLE/clause` to that of now."""

RENAMED = frozenset(label.partition("/")[0] for label in CLAUSES)
"""Oracles that have such a clause."""


def current_label(label: str) -> str:
    """The name of now of an `ORACLE/clause`; itself if it was never renamed."""
    return CLAUSES.get(label, label)


def current_clause(oracle: str, clause: str) -> str:
    """The same of a clause without its oracle."""
    return current_label(f"{oracle}/{clause}").removeprefix(f"{oracle}/")
