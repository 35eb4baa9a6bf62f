"""How another process makes a storage and calls it (outside.victim.Performer)."""

from __future__ import annotations

from typing import cast

from holdfast.harness.spi.storage import CheckpointStorage, Scope, StorageContext, storage_factory
from holdfast.suites.certify.outside.messages import Act, Outcome, PartSettings
from holdfast.suites.certify.plug import Contract

CONTRACT = Contract("checkpoint storage", CheckpointStorage, storage_factory)


def load(factory: str) -> None:
    CONTRACT.named(factory)


def made(setting: PartSettings) -> CheckpointStorage:
    context = StorageContext(uri=setting.uri, job=setting.own, options=setting.options)
    return cast("CheckpointStorage", CONTRACT.named(setting.factory)(context))


def perform(storage: CheckpointStorage, act: Act) -> Outcome:
    match act.verb:
        case "claim":
            storage.claim(act.epoch)
        case "write":
            stream = storage.streams(act.checkpoint, act.epoch).create(Scope(act.scope), act.name, act.token)
            for first in range(0, len(act.content), act.piece_bytes) or (0,):
                stream.write(act.content[first : first + act.piece_bytes])
            return Outcome(reference=stream.commit())
        case "finish":
            return Outcome(text=storage.finish(act.checkpoint, act.epoch, act.content))
        case "drop":
            storage.drop(act.checkpoint, act.epoch)
        case "read":
            assert act.reference is not None
            streams = storage.streams(act.checkpoint, act.epoch)
            return Outcome(content=b"".join(streams.read(act.reference)))
        case "resolve":
            return Outcome(content=storage.resolve(act.name))
    return Outcome()
