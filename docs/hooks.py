"""What MkDocs adds to the pages that were written: those of the code itself, the glossary, and the pictures."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from generated import commands, faults, options, oracles, rules
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGES = (rules.pages, faults.pages, oracles.pages, options.pages, commands.pages)
"""Each gives pages by their path."""
PICTURES = "pictures"
GLOSSARY = "GLOSSARY.md"
"""It lies beside the settings of the site, where readers of the code look for it."""


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
