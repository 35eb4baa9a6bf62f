"""The site of this process: what the user said about services, and those that were opened.

One for the whole process, because a broker or a cluster serves every run of a command.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.harness.engine import registry
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.service import Services, Site

_site = Site()
_services: Services | None = None


def settle(site: Site) -> None:
    """Say what the user said, before any system needs a service."""
    global _site
    _site = site


def services() -> Services:
    """Opened at the first call; the same ones until `close_services`.

    Raises:
        UsageError: nobody provides any, or the site contradicts itself.
    """
    global _services
    if _services is None:
        provider = registry.service_provider()
        if provider is None:
            raise UsageError("no provider of services is registered under holdfast.services: install holdfast again.")
        try:
            _services = provider.open(_site)
        except ValueError as error:
            raise UsageError(str(error)) from error
    return _services


def close_services() -> None:
    """End and remove what was started. Idempotent."""
    global _services
    opened, _services = _services, None
    if opened is not None:
        opened.close()


def abandoned_services() -> Sequence[str]:
    """What sessions left running whose harness is gone."""
    provider = registry.service_provider()
    return provider.leftovers() if provider is not None else ()


def sweep_services() -> Sequence[str]:
    """End and remove it; what was done, one sentence each."""
    provider = registry.service_provider()
    return provider.sweep() if provider is not None else ()
