"""Requests to the endpoint of a cluster, before anything is done: who asks, and whether each value is one that may be.

A page in somebody's browser can send requests to this machine, and so can every user of it. So a request needs the
token, which neither knows; and it names this machine as its host, and comes from no other page.
"""

from __future__ import annotations

import hmac
from email.message import Message
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec

from holdfast.harness.engine.artefacts.json_files import decode
from holdfast.harness.engine.job_cluster.jobs import MOST_PARALLELISM, SHOWN
from holdfast.harness.model.checkpoint import ClaimMode, SavepointFormat
from holdfast.harness.model.sentence import known_names

LARGEST_BODY_BYTES = 1 << 20
LONGEST_PATH = 4_096
JSON = "application/json"
SOURCE = "request"
_HOSTS = ("127.0.0.1", "localhost")
Body = TypeVar("Body", bound=msgspec.Struct)


class Rejected(ValueError):
    """A request that is not looked at any further.

    Attributes:
        status: of the answer.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Door(NamedTuple):
    """What a request must know and name.

    Attributes:
        token: of the cluster.
        port: that its endpoint listens on.
    """

    token: str
    port: int


class Submission(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The body of POST /jobs."""

    savepoint_path: str | None = None
    allow_non_restored_state: bool | None = None
    claim_mode: str | None = None
    parallelism: Annotated[int, msgspec.Meta(ge=0, le=MOST_PARALLELISM)] | None = None


class SavepointRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of POST /jobs/:id/savepoints."""

    target_directory: str | None = msgspec.field(name="target-directory", default=None)
    format_type: str | None = msgspec.field(name="formatType", default=None)
    cancel_job: bool | None = msgspec.field(name="cancel-job", default=None)


class StopRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The body of POST /jobs/:id/stop."""

    target_directory: str | None = None
    format_type: str | None = None
    drain: bool | None = None


def body_length(door: Door, headers: Message) -> int:
    """How long the body of a request is that may be looked at.

    Args:
        door: that it comes to.
        headers: of the request, by name, whatever its case.

    Raises:
        Rejected: it may not; one sentence.
    """
    host = headers.get("Host") or ""
    if host not in _own(door.port):
        raise Rejected(403, f"Host is {host[:SHOWN]!r}; allowed is {_HOSTS[0]}:{door.port}: name that.")
    origin = headers.get("Origin")
    if origin is not None and origin not in [f"http://{own}" for own in _own(door.port)]:
        raise Rejected(403, f"Origin is {origin[:SHOWN]!r}; no page from elsewhere may ask: use a program.")
    said = (headers.get("Authorization") or "").encode("utf-8", errors="replace")
    if not hmac.compare_digest(said, f"Bearer {door.token}".encode()):
        raise Rejected(
            401, "Authorization is not the token of this cluster; allowed is `Bearer TOKEN`: use that of its folder."
        )
    if "Transfer-Encoding" in headers:
        raise Rejected(411, "Transfer-Encoding is not taken: send the body whole, with its Content-Length.")
    given = headers.get("Content-Length") or "0"
    if not (given.isascii() and given.isdecimal()) or len(given) > len(str(LARGEST_BODY_BYTES)):
        raise Rejected(400, _length(given))
    length = int(given)
    if length > LARGEST_BODY_BYTES:
        raise Rejected(413, _length(given))
    kind = (headers.get("Content-Type") or "").partition(";")[0].strip().lower()
    if length and kind != JSON:
        raise Rejected(415, f"Content-Type is {kind[:SHOWN]!r}; allowed is {JSON}: send that.")
    return length


def checked(raw: bytes, kind: type[Body]) -> Body:
    """The body of a request.

    Raises:
        UsageError: it is none of that kind; one sentence that names the field.
    """
    return decode(raw or b"{}", kind, SOURCE)


def named_values(raw: bytes) -> dict[str, Any]:
    """A body whose fields are names that the cluster knows.

    Raises:
        UsageError: it is no object.
    """
    return decode(raw or b"{}", dict[str, Any], SOURCE)


def path_below(root: Path, field: str, given: str | None) -> str:
    """A path of a request, whole; empty: none was given.

    Raises:
        ValueError: it is none, or leads out of the root; one sentence.
    """
    if not given:
        return ""
    shown = repr(given[:SHOWN])
    plain = given.removeprefix("file://")
    if "\0" in plain or "://" in plain or len(plain) > LONGEST_PATH or not plain.startswith("/"):
        raise ValueError(f"{field} is {shown}; allowed is a whole path below {root}: name one.")
    try:
        inside = Path(plain).resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError) as error:
        raise ValueError(f"{field} is {shown}, which is no path ({error}): name one below {root}.") from error
    if not inside:
        raise ValueError(
            f"{field} is {shown}, which lies outside of {root}, the root of this cluster: name a path below it, or "
            "start a cluster with `holdfast job run --root`."
        )
    return plain


def claim_mode(given: str | None) -> str:
    """The claim mode of a submission; empty: the default of the version.

    Raises:
        ValueError: there is no such mode.
    """
    if given and given.upper() not in list(ClaimMode):
        raise ValueError(f"claimMode is {given[:SHOWN]!r}; {known_names(given, ClaimMode, 'allowed are')}: use one.")
    return (given or "").upper()


def savepoint_format(given: str | None) -> str:
    """How a savepoint is written.

    Raises:
        ValueError: there is no such format.
    """
    form = (given or SavepointFormat.CANONICAL).lower()
    if form not in list(SavepointFormat):
        raise ValueError(
            f"formatType is {form[:SHOWN]!r}; {known_names(form, SavepointFormat, 'allowed are')}: use one."
        )
    return form


def parts_of(target: str) -> list[str]:
    """The parts of the path of a request.

    Raises:
        ValueError: it is none.
    """
    return [part for part in urlsplit(target).path.split("/") if part]


def _own(port: int) -> list[str]:
    return [f"{host}:{port}" for host in _HOSTS]


def _length(given: str) -> str:
    return f"Content-Length is {given[:SHOWN]!r}; allowed is 0 to {LARGEST_BODY_BYTES} bytes: send a smaller body."
