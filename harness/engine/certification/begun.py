"""A certification, or a night, that has begun and is not complete: only the same code and settings go on with it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.files import read_content, require_regular, write_atomically
from holdfast.harness.engine.artefacts.owner import FILE as OWNER
from holdfast.harness.engine.artefacts.owner import claim, owner_lives, remove_owner
from holdfast.harness.engine.certification.kit_run import KitRequest
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.exploration.fingerprint import fingerprint
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import SHIPPED
from holdfast.harness.engine.site.machine import processors
from holdfast.harness.engine.site.services import Sites
from holdfast.harness.engine.site.services import named as named_sites
from holdfast.harness.engine.site.surroundings import passed_on
from holdfast.harness.spi.parts import part_factories

FILE = "begun.json"
_REFERENCE = re.compile(r"[\w.]+:\w+")
IN_USE = (
    "another process still fills it; wait for its end, or interrupt it; if it was killed in another container, remove "
    f"{OWNER} there."
)


class Begun(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Lies in the folder of a certification, or of a night, until that is complete.

    Attributes:
        identity: of what is done there.
        request: what is certified, without the folder, which may be moved; None: it is a night.
        started: of a night, ISO 8601 in UTC.
        waivers: file of the waivers; empty: none.
        sites: services that exist.
        environment: variables that the system under test gets, too.
    """

    identity: str
    request: Request | KitRequest | None = None
    started: str = ""
    waivers: str = ""
    sites: Sites = Sites()
    environment: tuple[str, ...] = ()


def begun_now(request: Request | KitRequest, identity: str, waivers: Path | None = None) -> Begun:
    """What begins now, with what the user set for services and variables.

    Args:
        request: what is certified.
        identity: of it.
        waivers: their file.
    """
    requested = msgspec.structs.replace(request, folder=Path()) if isinstance(request, Request) else request
    return Begun(
        identity=identity,
        request=requested,
        waivers=str(waivers.resolve()) if waivers is not None else "",
        sites=named_sites(),
        environment=passed_on(),
    )


class Work:
    """What a process does in a folder; `complete`: nothing is left to go on with."""

    def __init__(self) -> None:
        self.complete = False


@contextmanager
def working_in(folder: Path, begun: Begun) -> Iterator[Work]:
    """Within, this process alone works in a folder, and what it does there can be resumed until it is complete.

    Raises:
        UsageError: another process works there.
    """
    if not claim(folder):
        raise UsageError(f"{folder}: {IN_USE}")
    work = Work()
    try:
        write_begun(folder, begun)
        yield work
    finally:
        remove_owner(folder)
        if work.complete:
            end_begun(folder)


def write_begun(folder: Path, begun: Begun) -> None:
    """Record what was begun in a folder: from now on it can be resumed."""
    content = msgspec.json.encode(begun, enc_hook=str, order="sorted")
    write_atomically(folder / FILE, msgspec.json.format(content) + b"\n")


def end_begun(folder: Path) -> None:
    """Remove the record of what was begun in a folder: it is complete."""
    (folder / FILE).unlink(missing_ok=True)


def read_begun(folder: Path) -> Begun | None:
    """What was begun in a folder and is not complete; None: nothing.

    Raises:
        UsageError: it cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    content = read_content(require_regular(path))
    try:
        return msgspec.json.decode(content, type=Begun, dec_hook=lambda kind, value: kind(value))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: it cannot be read ({error}); begin anew.") from error


def named_by(begun: Begun) -> tuple[str, ...]:
    """What a record names that an untrusted folder must not choose: code that is neither registered nor ships with
    Holdfast, places where a kit stores something, services, variables, and which findings do not count."""
    requested, sites = begun.request, begun.sites
    named: list[str] = []
    if isinstance(requested, Request) and registry.needs_trust(requested.system, repeats=True):
        named.append(f"system {requested.system!r}")
    if isinstance(requested, KitRequest):
        if ":" in requested.factory and not _is_ours(requested.factory):
            named.append(f"{requested.contract} {requested.factory!r}")
        named += [f"location {requested.location!r}"] if requested.location else []
        named += [f"option {key}={value}" for key, value in requested.options.items()]
    services = (sites.kafka_bootstrap, sites.s3_endpoint, sites.spark_master, *sites.images, *sites.allow_faults_on)
    named += [f"service {each!r}" for each in services if each]
    named += [f"variable {each!r}" for each in begun.environment]
    return (*named, *([f"waivers {begun.waivers!r}"] if begun.waivers else []))


def _is_ours(factory: str) -> bool:
    is_reference = _REFERENCE.fullmatch(factory) is not None
    return (is_reference and factory.startswith(SHIPPED)) or factory in part_factories()


def begun_in(folder: Path, *, trust: bool) -> tuple[Begun, Request | KitRequest]:
    """What goes on in a folder, and its request.

    Args:
        folder: where; it may be somebody else's.
        trust: the user allows whatever is named there.

    Raises:
        UsageError: nothing was begun there that can go on, its code has changed, somebody works there, or it names
            what needs permission.
    """
    begun = read_begun(folder)
    if begun is None:
        raise UsageError(f"{folder}: no certification was interrupted there; name the folder of one, or begin anew.")
    if begun.request is None:
        raise UsageError(f"{folder}: it is a night; holdfast nightly goes on with it, with the settings of that night.")
    if owner_lives(folder):
        raise UsageError(f"{folder}: {IN_USE}")
    if not trust and (named := named_by(begun)):
        raise UsageError(
            f"{folder}: what was begun there names {', '.join(named)}; what is registered or ships with Holdfast needs "
            f"no permission: look at {FILE} and at that code, then add --trust."
        )
    if identity_of(begun.request) != begun.identity:
        raise UsageError(f"{folder}: its results are of other code than there is now; begin anew.")
    requested = begun.request
    if isinstance(requested, KitRequest):
        return begun, requested
    # How many run at a time is of the machine, and not of what is certified.
    return begun, msgspec.structs.replace(requested, folder=folder, jobs=min(requested.jobs, processors()))


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
        requested: Request | KitRequest = msgspec.structs.replace(request, command="", folder=Path(), jobs=1)
        code = code_of(request.system)
    else:
        requested = msgspec.structs.replace(request, command="")
        code = fingerprint(registry.kit(request.contract), registry.toolbox()) + _code_of_module(request.factory)
    digest = hashlib.sha256(msgspec.json.encode(requested, order="deterministic", enc_hook=str))
    digest.update(code.encode())
    return digest.hexdigest()


def _code_of_module(factory: str) -> str:
    """A digest of the sources of the outermost package of a factory `module:name`, which is not imported; empty where
    there is none."""
    with suppress(ValueError, ImportError):
        spec = find_spec(factory.partition(":")[0].partition(".")[0]) if ":" in factory else None
        if spec is not None:
            places = [Path(each) for each in spec.submodule_search_locations or () if spec.origin]
            files = [file for place in places for file in sorted(place.rglob("*.py"))] or [Path(spec.origin or "")]
            digest = hashlib.sha256(b"".join(file.read_bytes() for file in files if file.is_file()))
            return digest.hexdigest()
    return ""
