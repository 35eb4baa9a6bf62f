"""Every option of a job: key, default, rule."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.harness.engine.site.registry import rules
from holdfast.harness.model.profile import OPTIONS, Kind, Option


def pages() -> dict[str, str]:
    """`options.md`."""
    return {"options.md": "\n".join(_lines())}


def _lines() -> Iterator[str]:
    known = {rule.id for rule in rules()}
    yield "# Options"
    yield ""
    yield "Keys are those of Flink 2.x. A key that begins with `holdfast.` stands for what Flink has in code only."
    yield "Defaults are those of the profile `flink-2.x`; behind them stands that of `flink-1.14` where it differs."
    yield "Older spellings are read, too. `holdfast config check FILE` shows what a configuration file comes to, also a"
    yield "`spark-defaults.conf`, and ends with 1 if something is odd. It can be a"
    yield "[pre-commit hook](ci-recipes.md#configuration-files)."
    yield ""
    yield "| key | value | default | rule | older spellings |"
    yield "|---|---|---|---|---|"
    for option in OPTIONS.values():
        yield f"| {' | '.join(_cells(option, known))} |"


def _cells(option: Option, known: set[str]) -> Iterator[str]:
    yield f"`{option.key}`"
    bounds = {"at least": option.least, "more than": option.above, "at most": option.most}
    unit = {Kind.DURATION: " ms", Kind.SIZE: " b"}.get(option.kind, "")
    yield ", ".join((option.kind, *(f"{words} {bound}{unit}" for words, bound in bounds.items() if bound is not None)))
    default = f"`{option.default}`" if option.default else "none"
    yield default if option.default_1_14 is None else f"{default}; 1.14: `{option.default_1_14}`"
    area = option.rule.partition("-")[0]
    yield f"[{option.rule}](rules/{area}.md#{option.rule.lower()})" if option.rule in known else option.rule
    yield ", ".join(f"`{older}`" for older in option.older)
