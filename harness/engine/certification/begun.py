"""A certification that has begun and is not complete: only the same code and settings go on with it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

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


def identity_of(request: Request) -> str:
    """Another one wherever results would not belong together; how many run at a time makes no difference."""
    asked = msgspec.structs.replace(request, command="", folder=Path(), jobs=1)
    digest = hashlib.sha256(msgspec.json.encode(asked, order="deterministic", enc_hook=str))
    digest.update(code_of(request.system).encode())
    return digest.hexdigest()
