"""Faults of a store: its operations fail, before or after they took effect, or take long."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.faults.landing import since
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.events import StorageFailed, StorageSlowed
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role
from holdfast.harness.spi.controls import Controls

_DEFAULT_OPERATION = "write-state"
_DEFAULT_DELAY_MS = 100


class StorageError:
    """The next calls of one storage operation fail."""

    kind = "storage-error"
    roles = frozenset({Role.STORAGE, Role.SINK_SYSTEM})
    parameters: Mapping[str, tuple[type, str]] = {
        "operation": (str, f"which operation fails, such as `publish-metadata`; `{_DEFAULT_OPERATION}` if not given"),
        "occurrences": (int, "how many calls fail; 0: until the heal; 1 if not given"),
        "after_effect": (
            int,
            "1: the operation takes effect, and fails all the same; 0 if not given",
        ),
        "answer_lost": (
            int,
            "1: the operation takes no effect, and its caller cannot know that; 0, a refusal, if not given",
        ),
    }
    colour = "#0072b2"
    leaves = "whether the failed operation took effect, as far as its caller knows"
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.STORAGE_ERROR

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.fail_storage(
            self._operation(spec),
            int(spec.parameters.get("occurrences", 1)),
            **self._way(spec),
        )

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.restore_storage(self._operation(spec), **self._way(spec))

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return controls.storage_whole(self._operation(spec), **self._way(spec))

    def landed(self, history: History, fault: int) -> bool:
        """An operation of that name failed on purpose after the injection."""
        operation = self._operation(history.plan.faults[fault])
        return any(failed.injected and failed.operation == operation for failed in since(history, fault, StorageFailed))

    @staticmethod
    def _way(spec: FaultSpec) -> dict[str, bool]:
        """How its calls fail."""
        return {each: bool(int(spec.parameters.get(each, 0))) for each in ("after_effect", "answer_lost")}

    @staticmethod
    def _operation(spec: FaultSpec) -> str:
        return str(spec.parameters.get("operation", _DEFAULT_OPERATION))


class SlowStorage:
    """The next calls of one storage operation take longer."""

    kind = "slow-storage"
    roles = frozenset({Role.STORAGE})
    parameters: Mapping[str, tuple[type, str]] = {
        "operation": (str, f"which operation is slow, such as `delete`; `{_DEFAULT_OPERATION}` if not given"),
        "delay_ms": (int, f"how much longer each call takes; {_DEFAULT_DELAY_MS} if not given"),
        "occurrences": (int, "how many calls are slow; 0, all until the heal, if not given"),
    }
    colour = "#332288"
    leaves = "nothing: every call takes effect and is answered"
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.SLOW_STORAGE

    def inject(self, controls: Controls, spec: FaultSpec) -> None:
        controls.slow_storage(self._operation(spec), self._delay_ms(spec), int(spec.parameters.get("occurrences", 0)))

    def undo(self, controls: Controls, spec: FaultSpec) -> None:
        controls.restore_storage(self._operation(spec), delay_ms=self._delay_ms(spec))

    def healed(self, controls: Controls, spec: FaultSpec) -> bool:
        return controls.storage_whole(self._operation(spec), delay_ms=self._delay_ms(spec))

    def landed(self, history: History, fault: int) -> bool:
        """An operation of that name was held up on purpose after the injection."""
        operation = self._operation(history.plan.faults[fault])
        return any(slowed.operation == operation for slowed in since(history, fault, StorageSlowed))

    @staticmethod
    def _delay_ms(spec: FaultSpec) -> int:
        return int(spec.parameters.get("delay_ms", _DEFAULT_DELAY_MS))

    @staticmethod
    def _operation(spec: FaultSpec) -> str:
        return str(spec.parameters.get("operation", _DEFAULT_OPERATION))
