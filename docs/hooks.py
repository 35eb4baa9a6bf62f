"""What MkDocs adds to the pages that were written: those of the code itself, and the pictures of the gallery."""

from __future__ import annotations

from importlib import resources

from generated import commands, faults, options, oracles, rules
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGES = (rules.pages, faults.pages, oracles.pages, options.pages, commands.pages)
"""Each gives pages by their path."""
PICTURES = "pictures"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, which are in no folder."""
    for pages in PAGES:
        for path, text in pages().items():
            files.append(File.generated(config, path, content=text))
    reports = resources.files("holdfast.reports")
    for picture in (reports / "picture.png", *reports.joinpath("gallery").iterdir()):
        if picture.name.endswith((".svg", ".png")):
            files.append(File.generated(config, f"{PICTURES}/{picture.name}", content=picture.read_bytes()))
    return files
