"""Sequences of storage steps, carried out on a store and a broker by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from holdfast.fixtures.reference.connectors.store import Broker, Store
from holdfast.fixtures.reference.protocol.storage.sequence import carry_out
from holdfast.fixtures.reference.protocol.storage.steps import Middle, Step, Steps, Watched
from holdfast.harness.model.storage_steps import is_storage_step

Result = TypeVar("Result")


def carried_out(
    steps: Steps[Result], store: Store, middle: Callable[[], None] | None = None, broker: Broker | None = None
) -> Result:
    """Carry out a sequence.

    Args:
        steps: the sequence.
        store: takes its steps.
        middle: called in the middle of the sequence; None: nobody looks there.
        broker: takes the steps of a sink on a broker.

    Raises:
        OSError: the sequence ends with it.
    """
    with store.opened() as take_step:

        def take(step: Step) -> Any:
            if isinstance(step, Watched):
                return middle is not None
            if isinstance(step, Middle):
                return middle() if middle is not None else None
            return take_step(step) if is_storage_step(step) else broker.take(step)  # type: ignore

        return carry_out(steps, take)
