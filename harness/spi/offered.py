"""What a third party may offer beside what it must: a protocol whose members an object has, or has not.

`isinstance` gives the same answer on every Python. Alone, typing evaluates properties before Python 3.12. Since then it
overlooks what an object hands on by `__getattr__`.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getattr_static
from typing import Generic, Protocol, _ProtocolMeta

_ABSENT = object()
_NOT_THEIRS = (object, Protocol, Generic)


class Offered(_ProtocolMeta):
    """The class of such a protocol: `class Sweeper(Protocol, metaclass=Offered)`, which is `runtime_checkable`, too."""

    def __instancecheck__(self, instance: object) -> bool:
        if not getattr(self, "_is_protocol", False):
            return super().__instancecheck__(instance)
        return all(_has(instance, name) for name in _members(self))


def _members(protocol: type) -> Iterator[str]:
    for base in protocol.__mro__:
        if base not in _NOT_THEIRS:
            names = {**vars(base), **vars(base).get("__annotations__", {})}
            yield from (name for name in names if not name.startswith("_"))


def _has(instance: object, name: str) -> bool:
    """Whether a member is offered: it exists and is not None. A property is not evaluated, as it may start a system."""
    found = getattr_static(instance, name, _ABSENT)
    return getattr(instance, name, None) is not None if found is _ABSENT else found is not None
