"""How an oracle and its clauses are called before people: by its title, with the short name that stays the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def in_words(title: str, name: str) -> str:
    """`consistent cut (CUT)`.

    Args:
        title: of the oracle; empty: it has none.
        name: of the oracle, or `ORACLE/clause`.
    """
    return f"{title} ({name})" if title else name


def oracle_in_words(titles: Mapping[str, str], oracle: str) -> str:
    """The same, where the titles are known by the name of the oracle."""
    return in_words(titles.get(oracle, ""), oracle)


def clause_in_words(titles: Mapping[str, str], oracle: str, clause: str) -> str:
    """`consistent cut (CUT/barrier-once)`."""
    return in_words(titles.get(oracle, ""), f"{oracle}/{clause}")


def oracles_in_words(titles: Mapping[str, str], clauses: Iterable[str]) -> tuple[str, ...]:
    """The oracles of some clauses, each `ORACLE/clause`, once and in order."""
    return tuple(oracle_in_words(titles, each) for each in dict.fromkeys(name.partition("/")[0] for name in clauses))
