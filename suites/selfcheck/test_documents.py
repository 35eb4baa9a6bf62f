"""What newcomers read is short and leads to what exists."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import holdfast.suites

ROOT = Path(holdfast.suites.__path__[0]).parent
TERM = re.compile(r"^- \*\*(.+?)\*\*:", re.MULTILINE)
MOST_WORDS = 25
DOCUMENTS = (
    "README.md",
    "GLOSSARY.md",
    "CONTRIBUTING.md",
    "faults/README.md",
    "fixtures/README.md",
    "harness/README.md",
    "reports/README.md",
    "suites/README.md",
    "suites/spec/README.md",
    "suites/bench/README.md",
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
