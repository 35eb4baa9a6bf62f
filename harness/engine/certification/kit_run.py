"""One kit on one factory, check by check, to the journal of its certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from time import monotonic  # noqa: TID251 - for the report alone
from typing import NamedTuple

from holdfast.harness.engine.certification.kit_journal import kit_journal
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.engine.site.interruption import Interruption
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.status import Status
from holdfast.harness.spi.kit import KitCheck, TriesUnderFaults


class KitRequest(NamedTuple):
    """What a kit is asked.

    Attributes:
        contract: name of the kit, such as `state-backend`.
        factory: as `module:name`, or what else the kit knows factories by.
        command: as typed.
        rules: only checks that decide one of these; empty: all.
        seed: of all random programs.
        location, options: as Kit.certify.
        tiers: where it may run; empty: everywhere.
    """

    contract: str
    factory: str
    command: str
    rules: frozenset[str] = frozenset()
    seed: int = 0
    location: str = ""
    options: Mapping[str, str] = {}
    tiers: frozenset[Tier] = frozenset()

    def asks(self, tier: Tier) -> bool:
        """Whether something may run there."""
        return not self.tiers or tier in self.tiers


class KitRun(NamedTuple):
    """What came of it: every check that ended, and the journal of them."""

    checks: list[KitCheck]
    journal: Journal


def run_kit(request: KitRequest, interruption: Interruption) -> KitRun:
    """Run every check of the kit, and, if it refutes nothing, what runs in a whole runtime.

    Until interrupted: the first signal lets the one under way end, a second Ctrl-C breaks it off.

    Raises:
        UsageError: the factory cannot be loaded, or has no use for a location or options.
    """
    kit = registry.kit(request.contract)
    started, began_s = datetime.now(UTC).isoformat(timespec="seconds"), monotonic()  # noqa: TID251
    try:
        with foreign(f"{request.contract} {request.factory!r}"):
            asked = request.factory, request.rules, request.seed, request.location, request.options
            found = kit.certify(*asked) if request.asks(Tier.SIM) else iter(())
            checks = list(_until_interrupted(found, interruption))
            refuted = any(check.status is Status.FAIL for check in checks)
            if isinstance(kit, TriesUnderFaults) and request.asks(Tier.PROCESS) and not refuted:
                checks += _until_interrupted(kit.under_faults(*asked), interruption)
    except ValueError as error:
        raise UsageError(str(error)) from error
    journal = kit_journal(
        checks,
        command=request.command,
        factory=request.factory,
        subject=kit.subject,
        started=started,
        duration_s=monotonic() - began_s,
        seed=request.seed,
        interrupted=interruption.signal,
        left_out=kit.rules - request.rules if request.rules else frozenset(),
    )
    return KitRun(checks, journal)


def _until_interrupted(checks: Iterator[KitCheck], interruption: Interruption) -> Iterator[KitCheck]:
    while not interruption.signal:
        try:
            with interruption.breakable():
                check = next(checks, None)
        except KeyboardInterrupt:
            return
        if check is None:
            return
        yield check
