"""A certification that has begun and is not complete: only the same code and settings go on with it."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from holdfast.harness.engine.certification.kit_run import KitRequest
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.exploration.fingerprint import fingerprint
from holdfast.harness.engine.site import registry


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
