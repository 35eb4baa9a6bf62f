"""A certification that has begun and is not complete: only the same code and settings go on with it."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.files import write_atomically
from holdfast.harness.engine.artefacts.owner import owner_lives, remove_owner, write_owner
from holdfast.harness.engine.certification.kit_run import KitRequest
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.exploration.fingerprint import fingerprint
from holdfast.harness.engine.site import registry

FILE = "begun.json"


class Begun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Lies in the folder of a certification until that is complete.

    Attributes:
        identity: of its request.
        request: what is certified; without the folder, which may be moved.
    """

    identity: str
    request: Request


def note_begun(request: Request, identity: str) -> None:
    """From now on the certification can be resumed; this process works in its folder."""
    write_owner(request.folder)
    plain = msgspec.structs.replace(request, folder=Path())
    content = {"identity": identity, "request": msgspec.to_builtins(plain, enc_hook=str)}
    write_atomically(request.folder / FILE, msgspec.json.format(msgspec.json.encode(content)) + b"\n")


def note_end(folder: Path, *, complete: bool) -> None:
    """No process works in the folder any more."""
    remove_owner(folder)
    if complete:
        (folder / FILE).unlink(missing_ok=True)


def request_of(folder: Path) -> Request:
    """What is certified in a folder, by which code and settings.

    Raises:
        UsageError: nothing was begun there that can go on, its code has changed, or somebody works there.
    """
    path = folder / FILE
    if not path.is_file():
        raise UsageError(f"{folder}: no certification was interrupted there; name the folder of one, or begin anew.")
    try:
        begun = msgspec.json.decode(path.read_bytes(), type=Begun, dec_hook=lambda kind, value: kind(value))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: it cannot be read ({error}); begin anew.") from error
    if owner_lives(folder):
        raise UsageError(f"{folder}: another process still fills it; wait for its end, or interrupt it.")
    if identity_of(begun.request) != begun.identity:
        raise UsageError(f"{folder}: its results are of other code than there is now; begin anew.")
    return msgspec.structs.replace(begun.request, folder=folder)


def code_of(system: str) -> str:
    """Another one wherever a system, or what judges it, is of other code.

    Args:
        system: name, with variant; the path of a program may be its variant.
    """
    digest = hashlib.sha256(fingerprint(registry.system(system), registry.toolbox()).encode())
    program = Path(system.partition("+")[2])
    if program.is_file():
        digest.update(program.read_bytes())
    return digest.hexdigest()


def identity_of(request: Request | KitRequest) -> str:
    """Another one wherever results would not belong together; how many run at a time makes no difference."""
    if isinstance(request, Request):
        asked: Request | KitRequest = msgspec.structs.replace(request, command="", folder=Path(), jobs=1)
        code = code_of(request.system)
    else:
        asked = msgspec.structs.replace(request, command="")
        code = fingerprint(registry.kit(request.contract), registry.toolbox()) + _code_of_module(request.factory)
    digest = hashlib.sha256(msgspec.json.encode(asked, order="deterministic", enc_hook=str))
    digest.update(code.encode())
    return digest.hexdigest()


def _code_of_module(factory: str) -> str:
    """Of the outermost package of a factory, as `module:name`, which is not imported; empty where there is none."""
    with suppress(ValueError, ImportError):
        spec = find_spec(factory.partition(":")[0].partition(".")[0]) if ":" in factory else None
        if spec is not None:
            places = [Path(each) for each in spec.submodule_search_locations or () if spec.origin]
            files = [file for place in places for file in sorted(place.rglob("*.py"))] or [Path(spec.origin or "")]
            digest = hashlib.sha256(b"".join(file.read_bytes() for file in files if file.is_file()))
            return digest.hexdigest()
    return ""
