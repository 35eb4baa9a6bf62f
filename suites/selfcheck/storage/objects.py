"""The client of an object store in memory, as far as storages.s3 calls it for files that are shorter than a part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from types import SimpleNamespace
from typing import Any


class RefusedError(Exception):
    """What botocore raises where the store refuses a request."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


class ObjectsInMemory:
    """A client: each request happens at once.

    Attributes:
        tells_uploads: whether its keys may list what is under way.
    """

    exceptions = SimpleNamespace(ClientError=RefusedError)

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.tells_uploads = True

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, IfNoneMatch: str) -> None:  # noqa: N803
        assert IfNoneMatch == "*"
        if Key in self.objects:
            raise RefusedError("PreconditionFailed")
        self.objects[Key] = bytes(Body)

    def get_object(self, *, Bucket: str, Key: str, Range: str) -> Mapping[str, Any]:  # noqa: N803
        if Key not in self.objects:
            raise RefusedError("NoSuchKey")
        content = self.objects[Key]
        first, last = Range.removeprefix("bytes=").split("-")
        start = int(first) if first else max(0, len(content) - int(last))
        if start >= len(content):
            raise RefusedError("InvalidRange")
        return {"Body": _Body(content[start : int(last) + 1 if first else None])}

    def delete_objects(self, *, Bucket: str, Delete: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: N803
        for each in Delete["Objects"]:
            self.objects.pop(each["Key"], None)
        return {}

    def get_paginator(self, operation: str) -> SimpleNamespace:
        return SimpleNamespace(
            paginate={"list_objects_v2": self._listed, "list_multipart_uploads": self._uploads}[operation]
        )

    def _listed(self, *, Bucket: str, Prefix: str) -> Sequence[Mapping[str, Any]]:  # noqa: N803
        return [{"Contents": [{"Key": key} for key in self.objects if key.startswith(Prefix)]}]

    def _uploads(self, *, Bucket: str, Prefix: str) -> Sequence[Mapping[str, Any]]:  # noqa: N803
        if not self.tells_uploads:
            raise RefusedError("AccessDenied")
        return [{}]

    def close(self) -> None:
        pass


class _Body(BytesIO):
    def iter_chunks(self, size: int) -> Iterator[bytes]:
        yield self.read()
