"""How another process makes a file system and calls it (outside.victim.Performer)."""

from __future__ import annotations

from typing import cast

from holdfast.harness.spi.file_system import FileSystem, FileSystemContext, file_system_factory
from holdfast.suites.certify.outside.messages import Act, Outcome, PartSettings
from holdfast.suites.certify.plug import Contract

CONTRACT = Contract("file system", FileSystem, file_system_factory)


def load(factory: str) -> None:
    CONTRACT.named(factory)


def made(setting: PartSettings) -> FileSystem:
    context = FileSystemContext(uri=setting.uri, folder=setting.own, options=setting.options)
    return cast("FileSystem", CONTRACT.named(setting.factory)(context))


def perform(files: FileSystem, act: Act) -> Outcome:
    match act.verb:
        case "publish":
            upload = files.begin(act.name)
            for first in range(0, len(act.content), act.piece_bytes):
                upload.write(act.content[first : first + act.piece_bytes])
            upload.publish()
        case "read":
            return Outcome(content=b"".join(files.read(act.name, 0, 1 << 40)))
        case "remove":
            return Outcome(text=" ".join(files.remove(act.name.split())))
        case "paths":
            return Outcome(text=" ".join(files.paths(act.name)))
    return Outcome()
