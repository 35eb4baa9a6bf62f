"""Pictures that explain a run, for pages, as files of their own, and as a gallery with a page that shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from holdfast.harness.model.picture import (
    DrawnMachine,
    Exhibit,
    FailurePicture,
    Film,
    Gallery,
    LocalRecoveryPicture,
    PausePicture,
    Picture,
    RecoveryPicture,
    RescalePicture,
    SharedPicture,
    StreamPicture,
)
from holdfast.reports.files import write_file
from holdfast.reports.pictures import failure, film, local_recovery, machine, pause, rescale, rewind, shared, stream
from holdfast.reports.svg import element, number

PADDING = 16.0
NARROW = 760.0
"""What is not wider is not blown up to the width of the page."""
_SHEETS: Mapping[type, Callable[[Any], tuple[list[Markup], float, float]]] = {
    Film: film.sheet,
    DrawnMachine: machine.sheet,
    StreamPicture: stream.sheet,
    PausePicture: pause.sheet,
    RecoveryPicture: rewind.sheet,
    RescalePicture: rescale.sheet,
    LocalRecoveryPicture: local_recovery.sheet,
    SharedPicture: shared.sheet,
    FailurePicture: failure.sheet,
}
"""By kind of picture, what draws it: elements, width and height."""


def standalone(picture: Picture) -> str:
    """A picture as a file, in the colours that the style sheet falls back to."""
    drawn, width, height = _drawn(picture)
    sheets = ("pictures.css", "failure.css") if isinstance(picture, FailurePicture) else ("pictures.css",)
    templates = resources.files("holdfast.reports").joinpath("templates")
    style = "".join(templates.joinpath(name).read_text(encoding="utf-8") for name in sheets)
    whole = element(
        "svg",
        element("style", Markup(f"svg {{ background: #fff; }}\n{style}")),
        element("title", picture.title),
        *([element("desc", failure.in_words(picture))] if isinstance(picture, FailurePicture) else ()),
        element("g", Markup("").join(drawn), transform=f"translate({number(PADDING)} {number(PADDING)})"),
        class_="picture-svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width + 2 * PADDING)} {number(height + 2 * PADDING)}",
        role="img",
    )
    return str(whole) + "\n"


def inline(picture: Picture) -> Markup:
    """A picture for a page that has the style sheet; a film is drawn scene by scene instead."""
    if isinstance(picture, FailurePicture):
        return failure.inline(picture)
    drawn, width, height = _drawn(picture)
    return element(
        "svg",
        element("title", picture.title),
        *drawn,
        class_=f"picture-svg {'narrow' if width < NARROW else 'wide'}",
        viewBox=f"-4 -4 {number(width + 8)} {number(height + 8)}",
        role="img",
    )


def _drawn(picture: Picture) -> tuple[list[Markup], float, float]:
    return _SHEETS[type(picture)](picture)


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
