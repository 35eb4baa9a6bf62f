"""Where storages lie, as it looks from outside: what is there, byte by byte, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from shutil import move, rmtree
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from holdfast.fixtures.host.kept_file import files_below
from holdfast.harness.engine.site.surroundings import store_keys
from holdfast.harness.lease import Lease
from holdfast.suites.certify.check import CannotTry

AWKWARD = "a b%20c \u00e4+#?&=d"
"""A name of a folder, of which a URI encodes almost every sign."""
_DISCARD = 9
"""A port at which no NameNode listens."""
_NAMED_AS_WRITTEN = "names of places are there as they are written in a URI"


class Location(Protocol):
    """A place of one check's own.

    Attributes:
        uri: of it.
        unreachable: a URI of the same kind that nobody can write to; empty: none is known.
        far: each look is a request over a wire.
    """

    uri: str
    unreachable: str
    far: bool

    def names(self) -> Sequence[str]:
        """The names of everything that is there, also half written.

        Raises:
            CannotTry: nobody can look.
        """

    def uploads(self) -> int:
        """Uploads that were left open."""

    def read(self, name: str) -> bytes:
        """The exact content of a file."""

    def write(self, name: str, content: bytes) -> None:
        """Put something in its place."""

    def remove(self, name: str) -> None:
        """Take it away."""

    def moved(self) -> Location:
        """Move the content to another place, which is returned; nothing is left here."""

    def awkward(self) -> Location:
        """A place within this one, whose URI is not how its name is written.

        Raises:
            CannotTry: names and URIs are the same here.
        """

    def close(self) -> None:
        """Remove all of it."""


class Folder:
    """A folder of this machine (Location)."""

    far = False

    def __init__(self, parent: Path | None = None, name: str = "") -> None:
        self._temporary = Lease("kit") if parent is None else None
        if self._temporary is not None:
            self.path = self._temporary.room
        elif parent is not None:
            self.path = parent / (name or f"holdfast-kit-{uuid4().hex}")
        self.uri = self.path.as_uri()
        self.unreachable = Path("/proc/holdfast").as_uri()

    def names(self) -> Sequence[str]:
        return sorted(each.relative_to(self.path).as_posix() for each in files_below(self.path))

    def uploads(self) -> int:
        return 0

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        (self.path / name).write_bytes(content)

    def remove(self, name: str) -> None:
        (self.path / name).unlink()

    def moved(self) -> Location:
        other = Folder(self.path.parent)
        if self.path.exists():
            move(self.path, other.path)
        return other

    def awkward(self) -> Location:
        return Folder(self.path, AWKWARD)

    def close(self) -> None:
        rmtree(self.path, ignore_errors=True)
        if self._temporary is not None:
            self._temporary.close()


class Bucket:
    """What lies below a prefix of a bucket (Location)."""

    far = True

    def __init__(self, uri: str, options: Mapping[str, str]) -> None:
        parts = urlsplit(uri)
        self._client = _client(options)
        self._scheme = parts.scheme
        self._bucket = parts.netloc
        self._options = options
        self._base = uri
        folder = "/".join(each for each in (parts.path.strip("/"), f"holdfast-kit-{uuid4().hex}") if each)
        self._prefix = f"{folder}/"
        self.uri = f"{parts.scheme}://{parts.netloc}/{folder}"
        self.unreachable = f"{parts.scheme}://holdfast-{uuid4().hex}/nowhere"

    def names(self) -> Sequence[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
        return sorted(each["Key"].removeprefix(self._prefix) for page in pages for each in page.get("Contents", ()))

    def uploads(self) -> int:
        return len(self._uploads())

    def _uploads(self) -> Sequence[Mapping[str, str]]:
        pages = self._client.get_paginator("list_multipart_uploads").paginate(Bucket=self._bucket, Prefix=self._prefix)
        return [each for page in pages for each in page.get("Uploads", ())]

    def read(self, name: str) -> bytes:
        return bytes(self._client.get_object(Bucket=self._bucket, Key=self._prefix + name)["Body"].read())

    def write(self, name: str, content: bytes) -> None:
        self._client.put_object(Bucket=self._bucket, Key=self._prefix + name, Body=content)

    def remove(self, name: str) -> None:
        self._client.delete_object(Bucket=self._bucket, Key=self._prefix + name)

    def moved(self) -> Location:
        other = Bucket(self._base, self._options)
        for name in self.names():
            other.write(name, self.read(name))
            self.remove(name)
        return other

    def awkward(self) -> Location:
        raise CannotTry(_NAMED_AS_WRITTEN)

    def close(self) -> None:
        for name in self.names():
            self.remove(name)
        for each in self._uploads():
            self._client.abort_multipart_upload(Bucket=self._bucket, Key=each["Key"], UploadId=each["UploadId"])
        self._client.close()


class HdfsFolder:
    """A folder of an HDFS (Location)."""

    far = True

    def __init__(self, uri: str) -> None:
        from hdfs_native import Client

        parts = urlsplit(uri)
        self._base = uri
        self._client: Any = Client(f"hdfs://{parts.netloc}")
        name = f"holdfast-kit-{uuid4().hex}"
        self._root = f"{unquote(parts.path).rstrip('/')}/{name}"
        self.uri = f"{uri.rstrip('/')}/{name}"
        self.unreachable = f"hdfs://{parts.hostname}:{_DISCARD}{self._root}"

    def names(self) -> Sequence[str]:
        try:
            found = list(self._client.list_status(self._root, True))
        except FileNotFoundError:
            return ()
        return sorted(each.path.removeprefix(f"{self._root}/") for each in found if not each.isdir)

    def uploads(self) -> int:
        return 0

    def read(self, name: str) -> bytes:
        return bytes(self._client.read(f"{self._root}/{name}").read())

    def write(self, name: str, content: bytes) -> None:
        from hdfs_native import WriteOptions

        with self._client.create(f"{self._root}/{name}", WriteOptions(overwrite=True)) as file:
            file.write(content)

    def remove(self, name: str) -> None:
        self._client.delete(f"{self._root}/{name}")

    def moved(self) -> Location:
        other = HdfsFolder(self._base)
        if list(self.names()):
            self._client.rename(self._root, other._root)
        return other

    def awkward(self) -> Location:
        raise CannotTry("names of places on this machine are tried, which are encoded alike")

    def close(self) -> None:
        self._client.delete(self._root, True)


class Elsewhere:
    """A place that only its storage sees into (Location)."""

    unreachable = ""
    far = True

    def __init__(self, uri: str) -> None:
        self.uri = f"{uri.rstrip('/')}/holdfast-kit-{uuid4().hex}"

    def names(self) -> Sequence[str]:
        raise CannotTry(f"nobody but the storage itself can see what lies at {self.uri.partition('://')[0]}://")

    def uploads(self) -> int:
        return 0

    def read(self, name: str) -> bytes:
        raise NotImplementedError

    def write(self, name: str, content: bytes) -> None:
        raise NotImplementedError

    def remove(self, name: str) -> None:
        raise NotImplementedError

    def moved(self) -> Location:
        raise CannotTry("what lies there cannot be moved from outside")

    def awkward(self) -> Location:
        raise CannotTry(_NAMED_AS_WRITTEN)

    def close(self) -> None:
        pass


def location_below(uri: str, options: Mapping[str, str]) -> Location:
    """A new place below a URI; empty: a folder of the kit's own."""
    scheme = uri.partition("://")[0]
    if not uri:
        return Folder()
    if scheme == "file":
        return Folder(Path(unquote(urlsplit(uri).path)))
    if scheme in ("s3", "oss"):
        return Bucket(uri, options)
    if scheme == "hdfs":
        return HdfsFolder(uri)
    return Elsewhere(uri)


@cache
def _session(access_key: str | None, secret_key: str | None) -> Any:
    import boto3

    return boto3.session.Session(aws_access_key_id=access_key, aws_secret_access_key=secret_key)


def _client(options: Mapping[str, str]) -> Any:
    from botocore.config import Config

    style = "path" if options.get("s3.path.style.access", "true") == "true" else "virtual"
    found = store_keys()
    keys = [found.get(f"HOLDFAST_S3_{name}_KEY") or None for name in ("ACCESS", "SECRET")]
    return _session(*keys).client(
        "s3",
        endpoint_url=options.get("s3.endpoint") or None,
        region_name=options.get("s3.endpoint.region", "us-east-1"),
        config=Config(
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            s3={"addressing_style": style},
        ),
    )
