"""What is certified: a factory, and where what it makes may lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from holdfast.suites.certify import plug

Factory = Callable[..., Any]


class Contract(NamedTuple):
    """Which contract it keeps.

    Attributes:
        noun: of what is made, such as `checkpoint storage`.
        protocol: that it keeps.
        of_uri: the factory that is registered for the scheme of a URI.
    """

    noun: str
    protocol: type
    of_uri: Callable[[str], Factory]

    def named(self, name: str) -> Factory:
        """The factory of a name, or of the scheme of a URI.

        Raises:
            ValueError: it leads nowhere.
        """
        return self.of_uri(name) if "://" in name else plug.loaded(self.noun, name, self.protocol)

    def name_of(self, factory: Factory) -> str:
        """By which another process finds a factory; empty: it cannot."""
        name = f"{getattr(factory, '__module__', '')}:{getattr(factory, '__qualname__', '')}"
        try:
            return name if self.named(name) is factory else ""
        except ValueError:
            return ""


class Target(msgspec.Struct, frozen=True):
    """What is certified.

    Attributes:
        name: by which another process finds the factory; empty: it cannot.
        uri: below which everything lies; empty: a folder of the kit's own.
        options: of everything that is made.
        factory: of it.
    """

    name: str
    uri: str
    options: Mapping[str, str]
    factory: Factory


def target_of(
    contract: Contract, factory: Factory | str, uri: str = "", options: Mapping[str, str] | None = None
) -> Target:
    """
    Args:
        contract: that is certified.
        factory: a URI whose scheme is registered, `module:name`, or the factory itself.
        uri: of `Target`; where `factory` is a URI, it is that one.
        options: of `Target`.

    Raises:
        ValueError: the name leads nowhere, or there are two URIs.
    """
    if not isinstance(factory, str):
        return Target(contract.name_of(factory), uri, options or {}, factory)
    if "://" in factory:
        if uri:
            raise ValueError(f"both {factory!r} and {uri!r} are places: leave out --location.")
        uri = factory
    return Target(factory, uri, options or {}, contract.named(factory))
