"""What the kit and its victims tell each other: JSON, behind its length to a victim, and a line each from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.harness.model.events import FileReference

LENGTH_BYTES = 8


class PartSettings(msgspec.Struct, frozen=True):
    """The first message to a victim: which part to make, and where.

    Attributes:
        performer: the module that makes the part, and calls it (victim.Performer).
        factory: of the part, as `module:name`, or a URI whose scheme is registered.
        uri: of the place where it stores.
        own: name of the job or folder that owns its files.
        options: of the part.
        path: where modules are looked for.
    """

    performer: str
    factory: str
    uri: str
    own: str
    options: Mapping[str, str]
    path: Sequence[str] = ()


class Act(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call of a storage or a file system; its performer knows the verbs.

    Attributes:
        name: of a file, or a pointer, or a path.
        content: to be written, in pieces of `piece_bytes`; of a sink, encoded rows, or committables that are restored.
        epoch, checkpoint, scope, token, reference: of a storage; of a sink, `epoch` is the attempt.
        now_ms: what time it is, for a sink.
    """

    verb: str
    epoch: int = 0
    checkpoint: int = 0
    scope: str = "exclusive"
    name: str = ""
    token: bytes = b"token"
    content: bytes = b""
    piece_bytes: int = 1 << 20
    now_ms: int = 0
    reference: FileReference | None = None


class Command(msgspec.Struct, frozen=True):
    """What a fork is to do.

    Attributes:
        acts: one after the other, on one thing.
        counted_from: number of the first act whose points count.
        stop_at: point at which it stops; -1: none.
        kill: it dies there; else it waits for a line.
        power_lost: behind the last act, what was not synchronised is gone.
    """

    acts: Sequence[Act]
    counted_from: int = 0
    stop_at: int = -1
    kill: bool = True
    power_lost: bool = False


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of one act. `error`: the name of what it raised."""

    error: str = ""
    text: str = ""
    content: bytes = b""
    reference: FileReference | None = None


class Report(msgspec.Struct, frozen=True):
    """What came of a command that was not killed.

    Attributes:
        outcomes: of its acts.
        points: that were counted.
        lost: what the loss of power took away, a sentence each.
        watched: whether that could be seen.
    """

    outcomes: Sequence[Outcome]
    points: int
    lost: Sequence[str] = ()
    watched: bool = False


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a victim answers: ready, or lost because it found no factory; stopped, done, broken, ended."""

    event: str
    where: str = ""
    status: int = 0
    report: Report | None = None
