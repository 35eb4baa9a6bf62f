"""Sources that keep another process from ending; in that of the tests they do not."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

from holdfast.fixtures.sources.files import FileSource
from holdfast.fixtures.sources.splits import Position
from holdfast.harness.spi.source import SourceContext


def _elsewhere() -> bool:
    return "pytest" not in sys.modules


class LeavesAThread(FileSource):
    """As clients of brokers do."""

    def __init__(self, context: SourceContext) -> None:
        super().__init__(context)
        if _elsewhere():
            threading.Thread(target=threading.Event().wait).start()


class LooksForEver(FileSource):
    """Nobody answers it."""

    def look(self) -> Sequence[Position]:
        if _elsewhere():
            threading.Event().wait()
        return super().look()
