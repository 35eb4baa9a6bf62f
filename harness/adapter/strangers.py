"""Who came to a link of a service and is not of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from holdfast.harness.model.events import ConnectionsRefused


class Strangers:
    """
    Args:
        refused: by link, how many connections were refused so far; other runs may have had the same links.
    """

    def __init__(self, refused: Callable[[], Mapping[str, int]]) -> None:
        self._refused = refused
        self._known = Counter(refused())

    def events(self) -> Sequence[ConnectionsRefused]:
        """Those that have come since this was made, or last asked."""
        known, self._known = self._known, Counter(self._refused())
        return [ConnectionsRefused(connections=more, link=link) for link, more in (self._known - known).items()]
