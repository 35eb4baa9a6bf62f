"""The gallery in the repository shows what the reference runtime does now, and not what it once did."""

from __future__ import annotations

from pathlib import Path

from holdfast import reports
from holdfast.harness.commands.pictures import draw_system

GALLERY = Path(reports.__path__[0], "gallery")
AGAIN = "the gallery is not what the code draws now: holdfast pictures --out reports/gallery, then look at it"


def read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_gallery_is_what_is_drawn_now(tmp_path: Path) -> None:
    assert draw_system("reference", tmp_path) == 0
    drawn, kept = read(tmp_path), read(GALLERY)
    assert sorted(drawn) == sorted(kept), AGAIN
    assert [name for name in drawn if drawn[name] != kept[name]] == [], AGAIN
