"""Faults of listings: a storage shows what was there some time ago, as a network file system may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.faults.landing import since, window_of
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import CoordinatorClaimed, MetadataPublished
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import STORAGE, Role
from holdfast.harness.spi.controls.storage import ListingControl


class StaleListing:
    """Listings of the checkpoint storage stand still, while reading by name shows what is there.

    It is not drawn: leftovers that an older listing hides stay until the next recovery.
    """

    kind = "stale-listing"
    roles = frozenset({Role.STORAGE})
    parameters: Mapping[str, tuple[type, str]] = {}
    colour = "#8c6d31"
    control = ListingControl
    leaves = "nothing: a later listing holds everything"
    may_cause = frozenset({Consequence.FAILS_STORAGE})
    lasting = True

    def needs(self, spec: FaultSpec) -> Capability:
        return Capability.STALE_LISTING

    def inject(self, control: ListingControl, spec: FaultSpec) -> None:
        control.hold_listings()

    def undo(self, control: ListingControl, spec: FaultSpec) -> None:
        control.release_listings()

    def healed(self, control: ListingControl, spec: FaultSpec) -> bool:
        return not control.listings_held()

    def landed(self, history: History, fault: int) -> bool:
        """While it acted, a coordinator looked for checkpoints, behind one that had been published meanwhile."""
        window = window_of(history, fault)
        if window is None:
            return False
        published = [each.time_ns for each in since(history, fault, MetadataPublished)]
        claimed = [each.time_ns for each in history.of(CoordinatorClaimed) if window.holds(each.time_ns)]
        return any(earlier < later for earlier in published for later in claimed)


def stale_listing(duration_ms: int, **when: Any) -> FaultSpec:
    """Listings stand still for so long."""
    return FaultSpec("stale-listing", STORAGE, Schedule(**when), duration_ms)
