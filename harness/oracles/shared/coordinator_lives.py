"""Following one life of a coordinator after the other: what one knew, the next does not."""

from __future__ import annotations

from abc import ABC, abstractmethod

from holdfast.harness.model.events import Event, NodeStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.topology import process_of


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


def followed_lives(history: History) -> set[str]:
    """Lives of processes that another life followed: of a coordinator, also one that was superseded while it lived."""
    newest: dict[str, str] = {}
    before = set()
    for event in history.of(NodeStarted):
        process = process_of(event.node)
        if process in newest:
            before.add(newest[process])
        newest[process] = event.node
    return before
