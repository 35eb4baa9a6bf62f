"""What MkDocs adds to the pages that were written: those of the code itself, the glossary, and the pictures."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from generated import commands, faults, interfaces, json_lines, options, oracles, rules
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGES = (rules.pages, faults.pages, oracles.pages, options.pages, commands.pages, interfaces.pages, json_lines.pages)
"""Each gives pages by their path."""
PICTURES = "pictures"
GLOSSARY = "GLOSSARY.md"
"""It lies beside the settings of the site, where readers of the code look for it."""
HARNESS = "build/types/holdfast/harness"
"""A link to the folder under the name by which it is imported, as `.ci/types` makes it: mkdocstrings reads code from
files."""
_PICTURE = re.compile(r"""<img\b[^>]*\bsrc="(?:[^"]*/)?assets/([^"/]+\.svg)"[^>]*>""")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let mkdocstrings find what the reference is made of."""
    root = Path(config.config_file_path).parent
    link = root / HARNESS
    if not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(root / "harness")
    return config


def on_page_content(html: str, *, config: MkDocsConfig, **_: object) -> str:
    """Put pictures that are drawn in the colour of the text into the page: as images they would not know it."""
    assets = Path(config.docs_dir, "assets")

    def drawn(image: re.Match[str]) -> str:
        text = (assets / image[1]).read_text()
        return text if "currentColor" in text else image[0]

    return _PICTURE.sub(drawn, html)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in the folder of the site."""
    for pages in PAGES:
        for path, text in pages().items():
            files.append(File.generated(config, path, content=text))
    glossary = Path(config.config_file_path).parent / GLOSSARY
    files.append(File.generated(config, GLOSSARY.lower(), content=glossary.read_text()))
    reports = resources.files("holdfast.reports")
    for picture in (reports / "picture.png", *reports.joinpath("gallery").iterdir()):
        if picture.name.endswith((".svg", ".png")):
            files.append(File.generated(config, f"{PICTURES}/{picture.name}", content=picture.read_bytes()))
    return files
