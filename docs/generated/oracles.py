"""Every oracle: its invariant, and each way to violate it."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.engine.site.registry import toolbox
from holdfast.harness.spi.oracle import Oracle, titles_of


def pages() -> dict[str, str]:
    """`oracles.md`."""
    oracles = sorted(toolbox().oracles, key=lambda oracle: oracle.name)
    titles = titles_of(oracles)
    parts = (_head(), *(_oracle(each, titles.get(each.name, "")) for each in oracles))
    return {"oracles.md": "\n".join(line for part in parts for line in part)}


def _head() -> Iterator[str]:
    yield "# Oracles"
    yield ""
    yield "An oracle reads the history of a run, and knows no system. A clause is one way to break its invariant."
    yield "Where the table says *seen*, the clause rests on observations from outside. Where it says *reported*, it"
    yield "rests on what the system under test reports."


def _oracle(oracle: Oracle, title: str) -> Iterator[str]:
    observed: frozenset[str] = getattr(oracle, "observed", frozenset())
    yield f"\n## {oracle.name}{f': {title}' if title else ''} {{ #{oracle.name.lower()} }}\n"
    yield oracle.invariant
    yield "\n| clause | what violates it | rests on |\n|---|---|---|"
    for clause, meaning in oracle.clauses.items():
        yield f"| `{clause}` | {meaning.replace('|', chr(92) + '|')} | {'seen' if clause in observed else 'reported'} |"
