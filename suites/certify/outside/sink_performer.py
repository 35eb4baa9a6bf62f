"""How another process makes sinks and calls them (outside.victim.Performer)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from holdfast.harness.spi.sink import Committable, Row, Sink, SinkContext, SinkFactory, SinkWriter
from holdfast.suites.certify.outside.messages import Act, Outcome, PartSettings
from holdfast.suites.certify.plug import Contract

OPERATOR = "sink"


def _of_uri(uri: str) -> SinkFactory:
    raise ValueError(f"sink {uri!r} cannot be loaded: write module:name.")


CONTRACT = Contract("sink", Sink, _of_uri)


class Attempt:
    """One attempt of a job, all of it in this process."""

    sink: Sink
    writer: SinkWriter
    committables: Sequence[Committable] = ()

    def __init__(self, setting: PartSettings) -> None:
        self.setting = setting

    def begin(self, attempt: int, restored: Sequence[Committable], now_ms: int) -> None:
        where = self.setting
        factory = cast("SinkFactory", CONTRACT.named(where.factory))
        self.sink = factory(
            SinkContext(uri=where.uri, job=where.own, operator=OPERATOR, attempt=attempt, options=where.options)
        )
        self.sink.begin(restored, now_ms=now_ms)
        self.writer = self.sink.writer(0, now_ms=now_ms)
        self.committables = restored

    def prepare(self, rows: Sequence[Row], checkpoint: int, now_ms: int) -> None:
        self.writer.write(rows, now_ms=now_ms)
        self.committables = list(self.writer.prepare(checkpoint, now_ms=now_ms))


def load(factory: str) -> None:
    CONTRACT.named(factory)


def made(setting: PartSettings) -> Attempt:
    return Attempt(setting)


def perform(attempt: Attempt, act: Act) -> Outcome:
    match act.verb:
        case "begin":
            restored = msgspec.msgpack.decode(act.content, type=list[Committable]) if act.content else []
            attempt.begin(act.epoch, restored, act.now_ms)
        case "prepare":
            attempt.prepare(msgspec.msgpack.decode(act.content, type=list[Row]), act.checkpoint, act.now_ms)
            return Outcome(content=msgspec.msgpack.encode(attempt.committables))
        case "commit":
            outcomes = attempt.sink.commit(attempt.committables, now_ms=act.now_ms)
            return Outcome(text=", ".join(each.kind for each in outcomes))
    return Outcome()


def prepared(rows: Sequence[Row], checkpoint: int, now_ms: int) -> Act:
    """Rows are written, and their first phase."""
    return Act("prepare", checkpoint=checkpoint, now_ms=now_ms, content=msgspec.msgpack.encode(list(rows)))
