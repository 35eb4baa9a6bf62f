"""Every effect of the reference protocol has something that carries it out, and nothing else has."""

from __future__ import annotations

from typing import get_args
from unittest.mock import Mock

from holdfast.fixtures.reference.drivers.coordinator_outbox import CoordinatorOutbox
from holdfast.fixtures.reference.drivers.node_driver import bind_coordinator, bind_worker
from holdfast.fixtures.reference.drivers.worker_outbox import WorkerOutbox
from holdfast.fixtures.reference.protocol.channels.channel_buffers import ChannelBuffers
from holdfast.fixtures.reference.protocol.effects import Effect
from holdfast.fixtures.reference.protocol.effects.executors import Executors
from holdfast.fixtures.reference.protocol.storage.storage import STORAGE_EFFECTS
from holdfast.harness.model.events import Event


def test_each_effect_is_bound_to_what_carries_it_out() -> None:
    executors = Executors()
    bind_coordinator(executors, Mock())
    bind_worker(executors, Mock())
    ChannelBuffers(Mock()).bind(executors, Mock())
    CoordinatorOutbox(Mock(), Mock(), Mock(), Mock(), Mock()).bind(executors)
    WorkerOutbox(Mock(), Mock(), Mock(), 0, "").bind(executors)
    asked = {kind for kind in get_args(Effect) if not issubclass(kind, Event)}
    assert executors.by_kind.keys() | set(STORAGE_EFFECTS) == asked
    assert executors.by_kind.keys().isdisjoint(STORAGE_EFFECTS)
