"""Every effect of the reference protocol has something that carries it out, and nothing else has."""

from __future__ import annotations

from typing import get_args
from unittest.mock import Mock

from holdfast.fixtures.reference.drivers.coordinator_node import CoordinatorNode
from holdfast.fixtures.reference.drivers.worker_node import WorkerNode
from holdfast.fixtures.reference.protocol.effects import Effect
from holdfast.fixtures.reference.protocol.storage.storage import STORAGE_EFFECTS
from holdfast.harness.model.events import Event


def test_each_effect_is_bound_to_what_carries_it_out() -> None:
    coordinator, worker = (kind(Mock(), Mock(), Mock(), Mock(), Mock()) for kind in (CoordinatorNode, WorkerNode))
    asked = {kind for kind in get_args(Effect) if not issubclass(kind, Event)}
    bound = [{*node.executors.by_kind} for node in (coordinator, worker)]
    assert bound[0] | bound[1] == asked
    assert bound[0] & bound[1] == set(STORAGE_EFFECTS)
