"""The site of docs/: it builds, opens from a folder without a network, and leads to every rule."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from enum import EnumType
from html import escape, unescape
from pathlib import Path
from pkgutil import resolve_name, walk_packages
from typing import Any, get_args

import msgspec
import pytest
from typer.core import TyperGroup
from typer.main import get_command

from holdfast.fixtures.systems.json_lines import messages
from holdfast.harness import spi
from holdfast.harness.cli.application import app
from holdfast.harness.engine.site import registry
from holdfast.suites.selfcheck.contrast import LEAST, channels, contrast
from holdfast.suites.selfcheck.source_files import ROOT

pytestmark = pytest.mark.xdist_group("site")
"""One process builds it for all."""
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
    for package in ("material", "mkdocstrings"):
        pytest.importorskip(package)
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


GROUNDS = {"default": ("#ffffff", "#f5f5f5"), "slate": ("#1e2129", "#272a35")}
"""By scheme of the theme, those of text and of code."""
TEAL_IN_THE_DARK = "#00ccb8"
"""The theme's colour of links on dark grounds."""


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast(channels("#000000"), channels("#ffffff")) == pytest.approx(21)
    assert contrast(channels("#009485"), channels("#ffffff")) == pytest.approx(3.77, abs=0.01)  # The theme's teal.


@pytest.mark.parametrize("scheme", GROUNDS)
def test_links_code_and_the_head_of_a_page_can_be_read(scheme: str) -> None:
    style = (ROOT / "docs/assets/site.css").read_text()
    (rule,) = re.findall(rf'scheme="{scheme}"\] \{{([^}}]*)\}}', style)
    colours = dict(re.findall(r"--md-(\w+)-fg-color: (#\w{6})", rule))
    assert contrast(channels(colours["primary"]), channels("#ffffff")) >= LEAST
    link = colours["primary"] if scheme == "default" else TEAL_IN_THE_DARK
    grounds = [channels(each) for each in GROUNDS[scheme]]
    of_code = re.findall(r"--md-code-hl-\w+-color: (#\w{6})", rule)
    assert of_code
    read = (link, colours["accent"], *of_code)
    least = {each: min(contrast(channels(each), ground) for ground in grounds) for each in read}
    assert {each: found for each, found in least.items() if found < LEAST} == {}


def test_every_page_names_what_the_theme_leaves_without_a_name(site: Path) -> None:
    """What the script does can be seen in a browser alone."""
    script = (ROOT / "docs/assets/site.js").read_text()
    shown = (site / "index.html").read_text()
    assert {kind for kind in re.findall(r"data-md-component=([\w-]+)\]", script) if kind not in shown} == set()
    assert [page.name for page in site.rglob("*.html") if "assets/site.js" not in page.read_text()] == []


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


OURS = frozenset({"offered", "outside_files", "surroundings"})
"""Modules of the SPI that the harness needs itself, and nobody implements or calls."""


def offered() -> Iterator[type]:
    """What a third party implements, and what it is handed."""
    for module in walk_packages(spi.__path__, f"{spi.__name__}."):
        if module.name.rpartition(".")[2] not in OURS:
            found = vars(resolve_name(module.name)).values()
            yield from (each for each in found if isinstance(each, type) and each.__module__ == module.name)


def described(page: str, name: str) -> bool:
    """Whether something has an anchor on a page of the reference, and a text behind it."""
    _, found, rest = page.partition(f'id="{name}"')
    text = re.search(r'<div class="doc doc-contents[^"]*">\s*(.*?)</div>', rest, re.DOTALL)
    return bool(found and text and re.search(r"<(p|ul)>", text[1]))


def test_a_member_without_text_is_noticed() -> None:
    contents = '<h3 id="a.B"></h3><div class="doc doc-contents ">\n{}\n</div>'
    assert described(contents.format("<p>Text.</p>"), "a.B")
    assert not described(contents.format(""), "a.B")
    assert not described(contents.format("<p>Text.</p>"), "a.C")


@pytest.fixture(scope="module")
def reference(site: Path) -> str:
    """All pages of contracts."""
    return "".join(page.read_text() for page in sorted(site.glob("interfaces/*.html")))


def shown(reference: str) -> dict[str, type]:
    """The classes that have an anchor there, by their names."""
    found = {name: resolve_name(name) for name in re.findall(r'id="(holdfast\.[\w.]+)"', reference)}
    return {name: each for name, each in found.items() if isinstance(each, type)}


def test_what_a_third_party_implements_is_in_the_reference(reference: str) -> None:
    classes = {each for each in offered() if not each.__name__.startswith("_")}
    names = {each: name for name, each in shown(reference).items()}
    assert len(classes) > 100
    assert sorted(each.__qualname__ for each in classes - names.keys()) == []
    assert [name for each, name in names.items() if each.__doc__ and not described(reference, name)] == []


def test_each_member_of_an_enumeration_says_what_it_means(reference: str) -> None:
    enumerations = {name: each for name, each in shown(reference).items() if isinstance(each, EnumType)}
    assert {each.__name__ for each in enumerations.values()} >= {"Flag", "Capability", "Evidence", "Outcome", "Role"}
    members = [f"{name}.{member}" for name, each in enumerations.items() for member in each.__members__]
    assert [member for member in members if not described(reference, member)] == []


def fields(page: str, anchor: str) -> list[list[str]]:
    """The table of a message: name, type and meaning of each field."""
    table = page.partition(f'id="{anchor}"')[2].partition("<table>")[2].partition("</table>")[0]
    rows = [re.findall(r"<td>(.*?)</td>", row, re.DOTALL) for row in table.split("<tr>")]
    return [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in row] for row in rows if row]


def test_each_message_of_a_program_is_on_its_page_with_an_example(site: Path) -> None:
    page = (site / "json-lines.html").read_text()
    for kind in (*get_args(messages.Order), *get_args(messages.Answer)):
        tag = str(kind.__struct_config__.tag)
        anchor = f"{tag}-of-version-1" if kind is messages.FirstInit else tag
        rows = fields(page, anchor)
        assert [row[0] for row in rows] == ["type", *kind.__struct_fields__]
        assert all(len(meaning) > 3 for _, _, meaning in rows)
        highlighted = page.partition(f'id="{anchor}"')[2].partition('<div class="highlight">')[2]
        code = highlighted.partition("<code>")[2].partition("</code>")[0]
        example = unescape(re.sub(r"<[^>]+>", "", code)).strip()
        assert "\n" not in example
        assert isinstance(msgspec.json.decode(example, type=kind), kind)
    names = dict.fromkeys(each for kind in (messages.Claim, messages.Offer) for each in kind)
    assert [each for each in names if f"<td><code>{each}</code></td>" not in page] == []


def test_docstrings_are_laid_out(reference: str) -> None:
    """Each name of an entry for several has its own, defaults are told, and lists are lists."""
    entries = re.findall(r"<b><code>(?:<[^>]+>)?(\w+,?)<", reference)
    assert {"operator", "key_format", "value_format"} <= {*entries}
    assert [entry for entry in entries if entry.endswith(",")] == []
    assert "of the committables that <code>prepare</code> returns. Default: <code>1</code>." in reference
    assert "<li>A fault names the one protocol that it needs;" in reference


def test_the_picture_of_the_design_takes_the_colour_of_the_text(site: Path) -> None:
    page = (site / "design.html").read_text()
    assert '<svg class="architecture"' in page
    assert "architecture.svg" not in page
