"""What storage operations stand in where a test is their driver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from holdfast.fixtures.reference.protocol.storage.operation import After, EncodedRows, Failure, Hold, Operation, Outcome
from holdfast.harness.model.events import Event


class TestWorld:
    """See protocol.storage.operation.StorageWorld: nothing takes time, and nothing is there but stores.

    Attributes:
        hold: called in the middle of an operation; None: nobody looks there.
        failures: that strike, one at each call.
        recorded: events.
    """

    __test__ = False

    def __init__(self, hold: Hold | None = None, *failures: Failure) -> None:
        self.hold = hold
        self.failures = list(failures)
        self.recorded: list[Event] = []

    def delay_ms(self, operation: str) -> int:
        return 0

    def strike(self, operation: str) -> Failure | None:
        return self.failures.pop(0) if self.failures else None

    def record(self, event: Event) -> None:
        self.recorded.append(event)

    def listed(self, paths: list[str]) -> list[str]:
        return paths

    def reads(self, path: str) -> None:
        pass

    def end_offsets(self) -> tuple[int, ...]:
        return ()

    def encode(self, snapshot: Any) -> bytes:
        raise NotImplementedError

    def upload(self, upload: Any, streams: Any) -> NoReturn:
        raise NotImplementedError

    def encode_rows(self, batches: tuple[Any, ...]) -> EncodedRows:
        raise NotImplementedError


def outcome_of(operation: Operation) -> Outcome:
    """Carry out an operation from its beginning to its end."""
    stage: Callable[[], Outcome | After] | After = operation.stage
    while True:
        result = stage if isinstance(stage, After) else stage()
        if not isinstance(result, After):
            return result
        result.call.begin()
        stage = result.then
