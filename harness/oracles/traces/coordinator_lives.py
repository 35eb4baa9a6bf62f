"""Following one life of a coordinator after the other: what one knew, the next does not."""

from __future__ import annotations

from abc import ABC, abstractmethod

from holdfast.harness.model.events import Event


class CoordinatorLives(ABC):
    """What oracles have in common that follow what a coordinator knows.

    Attributes:
        node: the life that is followed now; empty: none was seen.
    """

    def __init__(self) -> None:
        """To be called when `_new_life` can be: a history without events has a life that nothing is known of."""
        self.node = ""
        self._new_life()

    @abstractmethod
    def _new_life(self) -> None:
        """Forget everything that one life knew."""

    def _of(self, event: Event) -> None:
        """An event of a coordinator; the first of another life begins that life."""
        if event.node != self.node:
            self.node = event.node
            self._new_life()
