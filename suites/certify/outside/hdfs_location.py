"""A folder of HDFS, as it looks from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from holdfast.suites.certify.check import CannotTry
from holdfast.suites.certify.outside import location

_DISCARD = 9
"""A port at which no NameNode listens."""


class HdfsFolder:
    """See location.Location."""

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

    def moved(self) -> location.Location:
        other = HdfsFolder(self._base)
        if list(self.names()):
            self._client.rename(self._root, other._root)
        return other

    def awkward(self) -> location.Location:
        raise CannotTry("names of places on this machine are tried, which are encoded alike")

    def close(self) -> None:
        self._client.delete(self._root, True)
