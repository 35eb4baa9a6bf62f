"""What services without Docker are made of, as far as somebody registered can install it."""

from __future__ import annotations

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.spi.service import InstallsServices


def installer() -> InstallsServices:
    """The registered provider of services.

    Raises:
        UsageError: there is none that installs anything.
    """
    provider = _provider()
    if provider is None:
        raise UsageError("no provider of services that can be installed is registered: install holdfast again.")
    return provider


def missing_parts() -> str:
    """The names of what is not installed; empty: nothing is missing, or nobody can install anything."""
    provider = _provider()
    return "" if provider is None else ", ".join(part.name for part in provider.parts() if not part.present)


def _provider() -> InstallsServices | None:
    provider: object = registry.service_provider()
    return provider if isinstance(provider, InstallsServices) else None
