"""`holdfast images`: which images of services are there, and building those that are not."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.build_progress import BuildProgress
from holdfast.harness.commands.services import MISSING
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points
from holdfast.harness.engine.site.services import image_set, site_of
from holdfast.harness.model.command_line import command_line
from holdfast.harness.spi.images import Image, ImageSet

_NAMES = 13
"""Columns of the names."""


def check_images(given: Sequence[str]) -> int:
    """Say which are there; 0 if all are."""
    try:
        images = image_set(site_of("", "", "", given, ())).check()
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    console = consoles.results()
    for image in images:
        console.print(_line(image))
    if all(image.present for image in images):
        return 0
    consoles.progress().print(f"Build what is missing: {command_line('images', 'build')}")
    return MISSING


def build_images(names: Sequence[str], base: str, given: Sequence[str]) -> int:
    """Build those that are missing, showing how far each build is."""
    console = consoles.results()
    try:
        images = image_set(site_of("", "", "", given, ()))
        _refuse_unknown(images, names, base)
        missing = [each.name for each in images.check() if not (each.present or each.given)]
        wanted = [name for name in missing if not names or name in names or name == images.names[0]]
        with BuildProgress(consoles.progress(), wanted) as progress:
            took = images.build(names, base or images.bases[0], progress)
        for image in images.check():
            if not names or image.name in names:
                took_s = took.get(image.name)
                console.print(_line(image) + Text("" if took_s is None else f" in {took_s:.0f} s", "dim"))
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error
    return 0


def _refuse_unknown(images: ImageSet, names: Sequence[str], base: str) -> None:
    """Before a daemon is needed, so that the answer is the same where none responds."""
    for name in names:
        if name not in images.names:
            raise entry_points.unknown("image", name, images.names)
    if base and base not in images.bases:
        raise entry_points.unknown("base", base, images.bases)


def _line(image: Image) -> Text:
    state = Text("present  ", "green") if image.present else Text("missing  ", "yellow")
    return state + Text(f"{image.name:<{_NAMES}} {image.reference}{' (given)' if image.given else ''}")
