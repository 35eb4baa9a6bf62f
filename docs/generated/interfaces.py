"""What a third party implements or calls: contracts by page, from the docstrings of the code."""

from __future__ import annotations

from collections.abc import Iterator
from pkgutil import resolve_name
from typing import NamedTuple

from holdfast.harness.engine.site.entry_points import GROUPS

SPI = "holdfast.harness.spi"
ADAPTER = "holdfast.harness.adapter"
MODEL = "holdfast.harness.model"
FOLDER = "interfaces"


class Page(NamedTuple):
    """One page.

    Attributes:
        name: of its file.
        title: whose contract it is.
        for_whom: what the reader brings, completing `You bring`.
        shown: modules and classes, in order.
        guide: the page that leads there, from the top of the site; empty: none does.
    """

    name: str
    title: str
    for_whom: str
    shown: tuple[str, ...]
    guide: str = ""


CONTRACTS = (
    Page(
        "state-backend",
        "State backend",
        "what holds the keyed state of an operator",
        (f"{SPI}.state", f"{SPI}.state.operator_state"),
        "certify-my-backend.md",
    ),
    Page(
        "checkpoint-storage",
        "Checkpoint storage",
        "a place where checkpoints lie",
        (f"{SPI}.storage",),
        "certify-my-connector.md",
    ),
    Page(
        "file-system",
        "File system",
        "what a checkpoint storage keeps its files in",
        (f"{SPI}.file_system",),
        "certify-my-connector.md",
    ),
    Page("sink", "Sink", "a connector that writes", (f"{SPI}.sink",), "certify-my-connector.md"),
    Page("source", "Source", "a connector that reads", (f"{SPI}.source",), "certify-my-connector.md"),
    Page(
        "restart-strategy",
        "Restart strategy",
        "a rule by which a failed job is started again",
        (f"{SPI}.restart_strategy",),
        "certify-my-connector.md",
    ),
    Page("errors", "Errors", "a part that raises an error", (f"{SPI}.errors", f"{SPI}.SPI_VERSION")),
    Page(
        "engine",
        "Engine",
        "an engine that runs as processes",
        (
            f"{ADAPTER}.engine.Engine",
            f"{ADAPTER}.engine.Place",
            f"{ADAPTER}.reader",
            f"{MODEL}.records.FoldRow",
            f"{MODEL}.capability",
        ),
        "certify-my-engine.md",
    ),
    Page(
        "system",
        "System",
        "a system under test of another kind, with the whole protocol",
        (
            f"{SPI}.system",
            f"{MODEL}.capability.Evidence",
            f"{MODEL}.case.Tier",
            f"{MODEL}.plan",
        ),
        "certify-my-engine.md",
    ),
    Page(
        "controls",
        "Controls",
        "a system that faults can act on, or a fault that needs a mechanism",
        (
            f"{SPI}.controls",
            *(f"{SPI}.controls.{name}" for name in ("process", "network", "storage", "job")),
        ),
    ),
    Page(
        "fault",
        "Fault",
        "one more way to break a system",
        (f"{SPI}.fault", f"{SPI}.attack", f"{MODEL}.target", f"{MODEL}.consequence"),
    ),
    Page("oracle", "Oracle", "one more invariant", (f"{SPI}.oracle", f"{MODEL}.verdict", f"{MODEL}.history.History")),
    Page(
        "workload",
        "Workload",
        "input whose right answer is known",
        (f"{SPI}.workload", f"{MODEL}.records.InputLog", f"{MODEL}.records.Partition"),
    ),
    Page("reporter", "Reporter", "one more report", (f"{SPI}.reporter",)),
    Page(
        "kit",
        "Kit",
        "the checks of one more kind of part",
        (f"{SPI}.kit", f"{SPI}.suite.Scaffold", f"{SPI}.mutant", f"{MODEL}.status.Status"),
    ),
    Page("parts", "Registered parts", "a part that users reach by a name", (f"{SPI}.parts.RegisteredPart",)),
    Page("suite", "Suite", "rules, cases, kits or scaffolds of your own", (f"{SPI}.suite.Suite",)),
    Page("service", "Service", "a broker or a store that systems need", (f"{SPI}.service",)),
)  # fmt: skip


def pages() -> dict[str, str]:
    """`interfaces/index.md`, and a page for each contract."""
    return {
        f"{FOLDER}/index.md": "\n".join(_index()),
        **{f"{FOLDER}/{page.name}.md": "\n".join(_page(page)) for page in CONTRACTS},
    }


def _index() -> Iterator[str]:
    yield "# Interfaces"
    yield ""
    yield "What you implement, and what you are handed. Nothing has to be inherited but `Engine`: a class satisfies a"
    yield "protocol by having its members. What an installed package brings is found by its entry points:"
    yield ""
    yield "| group | what is registered there |"
    yield "|---|---|"
    for group, what in GROUPS.items():
        yield f"| `holdfast.{group}` | {what} |"
    yield ""
    yield "Everything here is version 1, and provisional until two backends from outside have been certified."
    yield ""
    yield "| you bring | contract | guide |"
    yield "|---|---|---|"
    for page in CONTRACTS:
        guide = f"[guide](../{page.guide})" if page.guide else ""
        yield f"| {page.for_whom} | [{page.title}]({page.name}.md) | {guide} |"
    yield ""
    yield "A program in any language needs none of them: it speaks [JSON lines](../json-lines.md)."


def _page(page: Page) -> Iterator[str]:
    yield f"# {page.title}"
    yield ""
    yield f"For you if you bring {page.for_whom}."
    if page.guide:
        yield f"[The guide](../{page.guide}) leads there step by step."
    for name in page.shown:
        yield f"\n::: {name}"
        if names := getattr(resolve_name(name), "__all__", ()):  # What a package hands on from its modules.
            yield "    options:"
            yield f"      members: [{', '.join(names)}]"
