"""Wrong, against RST-07: it restarts a job behind a failure that will come again whatever is restarted."""

from __future__ import annotations

from msgspec.structs import replace

from holdfast.harness.spi.restart_strategy import Failure
from holdfast.suites.certify.scaffolds.restart_strategy.right import Strategy


class WrongStrategy(Strategy):
    """The wrong twin of Strategy."""

    def failed(self, failure: Failure, now_ms: float) -> int | None:
        return super().failed(replace(failure, recoverable=True), now_ms)
