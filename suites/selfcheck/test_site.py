"""The site of docs/: it builds, opens from a folder without a network, and leads to every rule."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

import holdfast.suites
from holdfast.harness.cli.application import app
from holdfast.harness.engine.site import registry

ROOT = Path(holdfast.suites.__path__[0]).parent
SETTINGS = ROOT / "mkdocs.yml"
LOADED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="((?:https?:)?//[^"]*)""", re.IGNORECASE)


def loaded_from_elsewhere(page: str) -> list[str]:
    """What a browser would fetch from the network to show a page."""
    return LOADED.findall(page)


def test_what_a_page_fetches_is_found() -> None:
    assert loaded_from_elsewhere('<script async src="https://a.example/x.js"></script><a href="https://b.example">')
    assert not loaded_from_elsewhere('<script src="assets/x.js"></script><a href="https://b.example">b</a>')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as MkDocs builds it; a link that leads nowhere fails."""
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # noqa: TID251 - those of the user
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(SETTINGS), "-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_comes_from_the_network(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > 30
    assert {page.name: found for page in pages if (found := loaded_from_elsewhere(page.read_text()))} == {}


def test_each_rule_fault_and_oracle_has_an_anchor(site: Path) -> None:
    for rule in registry.rules():
        page = (site / f"rules/{rule.area}.html").read_text()
        assert f'id="{rule.id.lower()}"' in page
        assert escape(rule.why, quote=False) in page
        assert all(f'href="{escape(source.address)}"' in page for source in rule.sources if source.address)
    tools = registry.toolbox()
    faults, oracles = ((site / f"{name}.html").read_text() for name in ("faults", "oracles"))
    assert [kind for kind in tools.faults if f'id="{kind}"' not in faults] == []
    assert [each.name for each in tools.oracles if f'id="{each.name.lower()}"' not in oracles] == []


def names(command: Any, name: str) -> list[str]:
    """A command of the terminal, or those of its group."""
    if not isinstance(command, TyperGroup):
        return [name]
    return [found for each, part in command.commands.items() for found in names(part, f"{name}-{each}")]


def test_each_command_has_an_anchor(site: Path) -> None:
    page = (site / "commands.html").read_text()
    known = names(get_command(app), "holdfast")
    assert "holdfast-services-install" in known
    assert [each for each in known if f'id="{each}"' not in page] == []


def test_each_term_of_the_glossary_is_on_its_page(site: Path) -> None:
    page = (site / "glossary.html").read_text()
    terms = re.findall(r"^- \*\*(.+?)\*\*:", (ROOT / "GLOSSARY.md").read_text(), re.MULTILINE)
    assert [term for term in terms if f"<strong>{term}</strong>" not in page] == []
