"""Images: what services are started from, and who builds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from holdfast.harness.spi.offered import Offered


class Image(msgspec.Struct, frozen=True):
    """One image of a set.

    Attributes:
        name: what it is for.
        reference: what the daemon calls it.
        given: the user named it, so it is never built.
        present: the daemon has it.
    """

    name: str
    reference: str
    given: bool
    present: bool


class ImageSet(Protocol):
    """What services are started from.

    Attributes:
        names: of all images, in the order in which they can be built.
        bases: ways to get the first one; the first is the default.
    """

    names: Sequence[str]
    bases: Sequence[str]

    def check(self) -> Sequence[Image]:
        """What is there and what is not, in the order of names.

        Raises:
            OSError: no daemon answers; one sentence.
        """

    def build(self, names: Sequence[str], base: str, say: Callable[[str, str], None]) -> Mapping[str, float]:
        """Build those that are missing, and what they need; the seconds that each took, without what was there.

        Args:
            names: of images; empty: all.
            base: one of `bases`.
            say: called with what is being done, as name of the image and line; `Step k/n : ...` where a step begins,
                and `Successfully tagged ...` at the end.

        Raises:
            ValueError: an unknown name or base; one sentence.
            OSError: no daemon answers, or a build failed: one sentence and the last lines that the build wrote.
        """


@runtime_checkable
class BringsImages(Protocol, metaclass=Offered):
    """What a provider of services may have beside spi.service.ServiceProvider, whose services run in containers."""

    def images(self, given: Mapping[str, str]) -> ImageSet:
        """
        Args:
            given: by name, the images that a site puts in place of its own.

        Raises:
            ValueError: a name is not in the set, or what builds images is not installed; one sentence.
        """
