"""Wrong, against TPC-05: a commit again of what is committed fails, because the transaction is not there any more."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.spi.sink import Outcome, OutcomeKind
from holdfast.suites.certify.scaffolds.sink.right import Sink


class WrongSink(Sink):
    """The wrong twin of Sink."""

    def commit_one(self, prepared: Path, visible: Path) -> Outcome:
        if not prepared.exists():
            return Outcome(OutcomeKind.FAILED, f"{prepared.name} is not there.")
        return super().commit_one(prepared, visible)
