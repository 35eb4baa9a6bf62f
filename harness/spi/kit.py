"""A kit: it judges one contract of the SPI, whoever implements it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Protocol, runtime_checkable

import msgspec

from holdfast.harness.model.case import Tier
from holdfast.harness.model.rule import Subject
from holdfast.harness.model.status import Status
from holdfast.harness.spi.offered import Offered


class KitCheck(msgspec.Struct, frozen=True):
    """The result of one check of a kit.

    Attributes:
        id: rule and name, such as `SBK-02/savepoint`.
        purpose: one sentence.
        rule: that it decides; of a failure, the rule that is broken.
        status: PASS, FAIL, INCONCLUSIVE, NOT_APPLICABLE, or ERROR where the kit itself broke; UNTESTED before it ran.
        reason: one sentence where it is not PASS.
        witness: of a failure, the steps that lead to it.
        supplied_by_author: parts of the judgement that rest on the author's word, such as a committed reader.
        figures: what was measured, sentences; nothing is judged by a time.
        tier: where it was tried.
    """

    id: str
    purpose: str
    rule: str
    status: Status
    reason: str = ""
    witness: tuple[str, ...] = ()
    supplied_by_author: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    tier: Tier = Tier.SIM

    @property
    def own_rule(self) -> str:
        """The rule that it is there for, whichever it found broken."""
        return self.id.partition("/")[0]


@runtime_checkable
class Plugs(Protocol, metaclass=Offered):
    """What a kit may have beside Kit, where a system is known that what it judges can be plugged into."""

    def plugged(self, factory: str, location: str, options: Mapping[str, str]) -> str:
        """The name of that system.

        Args:
            factory, location, options: as Kit.certify.

        Raises:
            ValueError: this one cannot be plugged in; one sentence.
        """


@runtime_checkable
class HasFloor(Protocol, metaclass=Offered):
    """What a kit may have beside Kit, so that a part to which hardly anything applies is not certified.

    Attributes:
        floor: groups of ids of its own checks; of each group one applies to everything that it judges. Where all of a
            group ran and none applied, they are inconclusive.
    """

    floor: Sequence[frozenset[str]]


class Kit(Protocol):
    """Brought by a suite (spi.suite) under the name of its contract, such as `state-backend`.

    Attributes:
        subject: whose rules it decides.
        rules: that it decides.
        checks: that it has, UNTESTED, in the order in which they run; no two have one id.
    """

    subject: Subject
    rules: frozenset[str]
    checks: Sequence[KitCheck]

    def certify(
        self,
        factory: str,
        checks: Set[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        """Checks of what a factory makes, one after the other, as they end.

        Args:
            factory: as `module:name`, or what else the contract knows factories by.
            checks: which, by id; empty: all.
            seed: of all random programs; the same one brings the same programs.
            location: URI below which it may store something; empty: a place of the kit's own.
            options: of everything that the factory makes.

        Raises:
            ValueError: the factory cannot be loaded, or has no use for a location or options; one sentence. Raised by
                the call, and not by the iterator.
        """


@runtime_checkable
class TriesUnderFaults(Protocol, metaclass=Offered):
    """What a kit may have beside: behind its own checks, what a factory makes takes its part in a whole runtime.

    Attributes:
        checks_under_faults: as Kit.checks.
    """

    checks_under_faults: Sequence[KitCheck]

    def under_faults(
        self,
        factory: str,
        checks: Set[str],
        seed: int = 0,
        location: str = "",
        options: Mapping[str, str] | None = None,
    ) -> Iterator[KitCheck]:
        """Cases of the runtime with what a factory makes, whose processes are killed; arguments and errors as of
        Kit.certify. Their ids are none of its own checks."""
