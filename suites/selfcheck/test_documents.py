"""What newcomers read is short and leads to what exists."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from holdfast.harness import engine
from holdfast.suites.selfcheck.source_files import ROOT, source_files

README = ROOT / "README.md"
FIRST_COMMANDS = (
    "$ pip install -e '.[spark]' && holdfast certify reference",
    "$ pip install -e '.[all]' && pytest suites/",
)
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
TERM = re.compile(r"^- \*\*(.+?)\*\*:", re.MULTILINE)
MOST_WORDS = 25
DOCUMENTS = (
    "README.md",
    "CHANGELOG.md",
    "GLOSSARY.md",
    "CONTRIBUTING.md",
    "faults/README.md",
    "fixtures/README.md",
    "fixtures/services/README.md",
    "fixtures/systems/README.md",
    "harness/README.md",
    "harness/adapter/README.md",
    "reports/README.md",
    "suites/README.md",
    "suites/certify/README.md",
    "suites/spec/README.md",
    "suites/bench/README.md",
    *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))),
)


def sentences(document: str) -> list[str]:
    """Those of paragraphs and lists; tables, headings and code left out."""
    text = re.sub(r"```.*?```", "", document, flags=re.DOTALL)
    blocks = re.split(r"\n\s*\n|\n(?=- )|\n(?=\d+\. )", text)
    lines = [" ".join(block.split()) for block in blocks if not block.lstrip().startswith(("#", "|"))]
    return [each for line in lines for each in re.split(r"(?<=[.!?:])\s+", line) if each]


def test_sentences_are_found_across_lines() -> None:
    assert sentences("# Title\n\nOne\ntwo. Three.\n- Four: five.\n") == ["One two.", "Three.", "- Four:", "five."]


def test_each_term_is_fixed_once() -> None:
    terms = Counter(TERM.findall((ROOT / "GLOSSARY.md").read_text()))
    assert len(terms) > 60
    assert max(terms.values()) == 1


@pytest.mark.parametrize("name", DOCUMENTS)
def test_its_sentences_are_short(name: str) -> None:
    found = sentences((ROOT / name).read_text())
    assert len(found) > 5
    assert [each for each in found if len(each.split()) > MOST_WORDS] == []


@pytest.mark.parametrize(("name", "lines", "words"), [("README.md", 120, 900), ("CHANGELOG.md", 60, 600)])
def test_it_is_read_in_some_minutes(name: str, lines: int, words: int) -> None:
    text = (ROOT / name).read_text()
    assert len(text.splitlines()) <= lines
    assert len(text.split()) <= words


def test_the_two_commands_stand_in_one_line_each() -> None:
    """`.ci/run` finds them by how they begin, and runs them as they stand."""
    lines = README.read_text().splitlines()
    assert tuple(line for line in lines if line.startswith("$ pip install -e")) == FIRST_COMMANDS


def lost_links(document: str, folder: Path) -> list[str]:
    """Where links of a document lead within the project, and nothing is there."""
    return [to for to in LINK.findall(document) if "://" not in to and not (folder / to).exists()]


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.md").touch()
    text = "[a](a.md), [part](a.md#part), [b](b.md), ![c](c.png), [site](https://a.example/d)"
    assert lost_links(text, tmp_path) == ["b.md", "c.png"]


@pytest.mark.parametrize("name", [each for each in DOCUMENTS if not each.startswith("docs/")])
def test_its_links_lead_to_files(name: str) -> None:
    """Those of docs/ are checked when the site is built, which has pages that are no files."""
    assert lost_links((ROOT / name).read_text(), (ROOT / name).parent) == []


QUOTED = re.compile(r"`([^`\s]+)`")
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
NAMED = re.compile(r"[a-z_]\w*|[A-Z]\w*[a-z]\w*(\.\w+)?")
CHOSEN = re.compile(r"(?<![A-Za-z])[A-Z]{3,}(?![A-Za-z])")
"""A part of a path that whoever makes the file chooses, such as NAME."""


def missing(document: str, folder: Path) -> list[str]:
    """What the numbered items of a document quote and what is not there.

    Args:
        document: its text. Behind a path an item names classes, and functions as `name` or `Class.name`.
        folder: that its paths begin in, if not in the root of the project.

    Returns:
        Paths that are not there; functions that the file, or the folder, does not define; classes that it does not use.
    """
    lost = []
    for item in re.findall(r"^\d+\. .*(?:\n {3}.*)*", document, re.MULTILINE):
        code: str | None = None
        for quoted in QUOTED.findall(item):
            if PATH.fullmatch(quoted):
                code = code_at([folder / quoted, ROOT / quoted])
                if code is None and not CHOSEN.search(quoted):
                    lost.append(quoted)
            elif code is not None and NAMED.fullmatch(quoted):
                names = quoted.split(".")
                class_name = names[0] if quoted[0].isupper() else ""
                function = names[-1] if names[-1][0].islower() or names[-1][0] == "_" else ""
                lost += [function] if function and not re.search(rf"\bdef {function}\b", code) else []
                lost += [class_name] if class_name and not re.search(rf"\b{class_name}\b", code) else []
    return lost


def code_at(places: Iterable[Path]) -> str | None:
    """The text of the first of these that exists, or of all files in it; None: none does."""
    place = next((each for each in places if each.exists()), None)
    if place is None:
        return None
    return "\n".join(file.read_text() for file in ([place] if place.is_file() else sorted(place.rglob("*.py"))))


def test_what_is_not_there_is_missed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.py").write_text("class Known:\n    def known(self) -> Other: ...\n")
    assert missing("1. `a/b.py`: `Known.known`, `Other`.\n2. `a/NAME.py`: `gone`.\n", tmp_path) == []
    assert missing("1. `a/c.py` and\n   `a/b.py`: `Known.gone`, `Lost`.\n", tmp_path) == ["a/c.py", "gone", "Lost"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_files_and_functions_that_it_lists_exist(name: str) -> None:
    assert missing((ROOT / name).read_text(), (ROOT / name).parent) == []


FILLED_IN = "…"
"""Stands on a page for what a message says of the case at hand."""
MESSAGE = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTING = ("harness", "faults", "reports", "fixtures", "suites/certify")
"""Whose texts reach a user."""


def texts_of(code: str) -> str:
    """Python in which neighbouring texts are one, and what is filled in is marked."""
    whole = re.sub(r"""["']\s*\n\s*f?["']""", "", code)
    return re.sub(r"(\{[^{}\n]*\})+", FILLED_IN, whole)


def never_printed(document: str, codes: Iterable[str]) -> list[str]:
    """The messages that a page quotes, a line each, and that none of these files has."""
    texts = [texts_of(code) for code in codes]
    quoted = [line for block in MESSAGE.findall(document) for line in block.splitlines()]
    return [line for line in quoted if not any(line in text for text in texts)]


def test_a_quoted_message_that_is_not_printed_is_noticed() -> None:
    page = "```text\n… is busy: wait for …\nroom is left\nno …\n```\n"
    code = 'raise UsageError(\n    f"{folder} is busy: "\n    f"wait for {owner()!r}."\n)\n"no {1}"\n'
    assert never_printed(page, [code]) == ["room is left"]
    assert never_printed(page, [code.replace("busy", "full"), "room is left"]) == ["… is busy: wait for …"]


def test_the_messages_of_the_troubleshooting_are_printed() -> None:
    document = (ROOT / "docs/troubleshooting.md").read_text()
    assert len(MESSAGE.findall(document)) > 20
    assert never_printed(document, dict(source_files(*PRINTING)).values()) == []


def test_the_engine_lists_its_folders_as_the_contract_orders_them() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each.get("containers") == ["holdfast.harness.engine"])
    assert re.findall(r"^(\w+(?: \| \w+)?) {2,}\S", engine.__doc__ or "", re.MULTILINE) == layers


def test_the_picture_of_the_design_shows_who_may_import_whom() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    texts = re.findall(r"<text [^>]*>([^<]+)</text>", (ROOT / "docs/assets/architecture.svg").read_text())
    judge, beside = texts.index("The judge: only downwards"), texts.index("suites")
    layers = next(each["layers"] for each in contracts if each["name"].startswith("The judge: model"))
    drawn = [name for text in texts[judge + 2 : beside] for name in text.split(", ")]
    for layer in layers:
        names = {name.rpartition(".")[2] for name in layer.split(" | ")}
        assert {drawn.pop(0) for _ in names} == names
    assert not drawn
    shown = dict(zip(texts[beside:-1:2], texts[beside + 1 : -1 : 2], strict=True))
    assert list(shown) == ["suites", "fixtures", "adapter", "faults", "reports"]
    for name, imported in shown.items():
        source = "holdfast.harness.adapter" if name == "adapter" else f"holdfast.{name}"
        forbidden = {
            module
            for each in contracts
            if source in each.get("source_modules", ())
            for module in each["forbidden_modules"]
        }
        assert not {f"holdfast.harness.{module}" for module in imported.split(", ")} & forbidden
