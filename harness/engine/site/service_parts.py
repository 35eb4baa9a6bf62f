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
    provider: object = registry.service_provider()
    if not isinstance(provider, InstallsServices):
        raise UsageError("no provider of services that can be installed is registered: install holdfast again.")
    return provider


def missing_parts() -> str:
    """The names of what is not installed; empty: nothing is missing, or nobody can install anything."""
    provider: object = registry.service_provider()
    if not isinstance(provider, InstallsServices):
        return ""
    return ", ".join(part.name for part in provider.parts() if not part.present)
