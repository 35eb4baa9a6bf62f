"""The catalogue: a page for each area, an anchor for each rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from holdfast.harness.engine.certification.certificate import rule_results
from holdfast.harness.engine.site import registry
from holdfast.harness.model.journal import RuleResult
from holdfast.harness.model.rule import Source, Subject
from holdfast.reports.text import DECIDABILITY_WORDS, SUBJECT_WORDS


def pages() -> dict[str, str]:
    """`rules/index.md` and `rules/AREA.md`."""
    found = rule_results(registry.rules(), registry.cases(), (), {}, Subject.RUNTIME)
    areas = {area: tuple(rules) for area, rules in groupby(found, lambda each: each.rule.area)}
    return {
        "rules/index.md": "\n".join(_index(areas.values())),
        **{f"rules/{area}.md": "\n".join(_area(rules)) for area, rules in areas.items()},
    }


def _index(areas: Iterable[tuple[RuleResult, ...]]) -> Iterator[str]:
    yield "# Rules"
    yield ""
    yield "What a checkpointing stream processor owes its users. The status of a rule is computed from results, never"
    yield "stored: `holdfast rules` shows those of your last certificate."
    yield ""
    yield "| area | title | rules |"
    yield "|---|---|---|"
    for rules in areas:
        first = rules[0].rule
        linked = ", ".join(f"[{each.rule.id}]({first.area}.md#{each.rule.id.lower()})" for each in rules)
        yield f"| {first.area} | [{first.title}]({first.area}.md) | {linked} |"


def _area(rules: tuple[RuleResult, ...]) -> Iterator[str]:
    first = rules[0].rule
    yield f"# {first.area}: {first.title}"
    for each in rules:
        rule = each.rule
        yield f"\n## {rule.id} {{ #{rule.id.lower()} }}\n"
        yield f"{rule.text}\n"
        yield f"- **Why it matters**: {rule.why}"
        yield f"- **Level**: {rule.level} for {', '.join(SUBJECT_WORDS[subject] for subject in rule.subjects)}"
        yield f"- **How**: {DECIDABILITY_WORDS[rule.decidability]}; {rule.oracle}"
        if each.oracles:
            yield f"- **Oracle**: {', '.join(f'[{name}](../oracles.md#{name.lower()})' for name in _names(each))}"
        if each.cases:
            yield f"- **Cases**: {', '.join(f'`{case}`' for case in each.cases)}"
        if each.mutants:
            yield f"- **Refutes the wrong variants**: {', '.join(f'`{mutant}`' for mutant in each.mutants)}"
        yield f"- **Sources**: {'; '.join(_linked(source) for source in rule.sources)}"


def _names(result: RuleResult) -> tuple[str, ...]:
    """The oracles of a rule, each once."""
    return tuple(dict.fromkeys(oracle.partition("/")[0] for oracle in result.oracles))


def _linked(source: Source) -> str:
    """A source as a link, in code where Markdown would take a part of it for markup."""
    words = f"`{source.words}`" if set(source.words) & set("_*<[") else source.words
    return f"[{words}]({source.address})" if source.address else words
