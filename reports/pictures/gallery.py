"""Pictures as files, with a page that shows them."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.model.picture import Exhibit, Gallery
from holdfast.reports.files import write_file
from holdfast.reports.pictures.drawing import standalone


class GalleryReporter:
    """Each picture as `NAME.svg`."""

    name = "gallery"
    shows = Gallery
    writes = "README.md"

    def render(self, gallery: Gallery, folder: Path) -> Path:
        """Write the pictures, and then `README.md`."""
        for each in gallery.exhibits:
            write_file(folder / f"{each.picture.name}.svg", standalone(each.picture))
        page = "\n\n".join((f"# {gallery.title}", gallery.words, *map(_section, gallery.exhibits)))
        return write_file(folder / self.writes, f"{page}\n")


def _section(exhibit: Exhibit) -> str:
    picture = exhibit.picture
    words = picture.explains + (f" From case `{exhibit.case}`." if exhibit.case else "")
    return f"## {picture.title}\n\n{words}\n\n![{picture.title}]({picture.name}.svg)"
