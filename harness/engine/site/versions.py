"""Which versions are installed here, so that a report says what its results were got with."""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping
from importlib.metadata import PackageNotFoundError, version

from holdfast.harness.engine.site.answers import answer_of
from holdfast.harness.model.case import Tier
from holdfast.harness.model.distribution import DISTRIBUTION
from holdfast.harness.spi.system import System, TellsVersions

_LIBRARIES = ("msgspec", "numpy", "pyarrow")


def versions() -> dict[str, str]:
    """By name, of the program, of Python, of the libraries that a verdict rests on, and of the platform."""
    return {
        "holdfast": _version(DISTRIBUTION),
        "python": platform.python_version(),
        **{name: _version(name) for name in _LIBRARIES},
        "platform": platform.platform(),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def on_tiers(system: System, ran: Collection[Tier]) -> tuple[str, ...]:
    """What a system under test is made of where it ran, one sentence for each tier, and where that differs from another
    tier, whether it ran there or not.

    Args:
        system: that was certified.
        ran: tiers that took part.
    """
    if not isinstance(system, TellsVersions):
        return ()
    found = {
        tier: answer_of(system.versions, tier, kind=Mapping, of=str) for tier in Tier if tier in system.capabilities
    }
    made_of = (f"On tier {tier}: {_listed(found[tier])}." for tier in found if tier in ran and found[tier])
    names = dict.fromkeys(name for each in found.values() for name in each)
    differences = (_difference(name, found) for name in names) if ran else ()
    return (*made_of, *filter(None, differences))


def _difference(name: str, found: Mapping[Tier, Mapping[str, str]]) -> str:
    """Of one part; empty if all tiers that have it have one version."""
    tiers = {tier: each[name] for tier, each in found.items() if name in each}
    if len(set(tiers.values())) < 2:
        return ""
    listed = " and ".join(f"{version} on tier {tier}" for tier, version in tiers.items())
    return f"Tiers differ in {name}: {listed}. What is shown of one version is not shown of the other."


def _listed(made_of: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in made_of.items())
