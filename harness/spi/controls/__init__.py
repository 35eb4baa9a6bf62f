"""How faults act on a system: one small protocol for each mechanism, of which a deployment offers those that it has.

Rules of this package:
- A fault names the one protocol that it needs; the engine hands it what the deployment offers under that name.
- Who offers a protocol has all of it. What holds for some targets or parameters only is a capability besides.
- Every verb acts at once, and returns when it has acted (on real tiers: when the kernel or the relay has confirmed it).
- Targets are those of the plan; an unknown target raises ValueError and is named.
- Verbs are called by the engine's thread only, between two calls of `Deployment.advance`.
- `Controls.acting` is the fault whose verb it is. A mechanism keeps that with its order, and records a FaultStruck with
  it where it sees the effect: a fault without one has not landed, whatever else the history holds. A mechanism that
  cannot see it, because the effect is seen in a foreign system only, offers itself with `stamps=False`.
- A mechanism of a third party is a protocol of its own: nothing here lists them all.
"""

from __future__ import annotations

from typing import Any, TypeVar

from holdfast.harness.model.events import FaultStruck

Mechanism = TypeVar("Mechanism")
NOBODY = -1
"""Instead of a fault: what is done for none."""


def stamp(fault: int, what: str) -> tuple[FaultStruck, ...]:
    """What to record of an effect of a fault; of NOBODY nothing.

    Args:
        fault: whose.
        what: it acted on.
    """
    return () if fault == NOBODY else (FaultStruck(fault=fault, what=what),)


class Acting:
    """Whose verbs are called.

    Attributes:
        fault: its index in the plan, which is the identity of its injection; NOBODY: no fault's.
    """

    __slots__ = ("fault",)

    def __init__(self) -> None:
        self.fault = NOBODY

    def stamp(self, what: str) -> tuple[FaultStruck, ...]:
        """The FaultStruck to record for an effect on something; none where no fault caused it."""
        return stamp(self.fault, what)


class Controls:
    """The mechanisms that a deployment offers, by their protocols.

    Args:
        acting: as below, where mechanisms have it already.

    Attributes:
        acting: the fault that a verb is called for.
    """

    def __init__(self, acting: Acting | None = None) -> None:
        self.acting = acting or Acting()
        self._offered: dict[type, Any] = {}
        self._stamping: set[type] = set()

    def offer(self, mechanism: type[Mechanism], control: Mechanism, *, stamps: bool = True) -> None:
        """Offer a mechanism; replaces an earlier offer of the same.

        Args:
            mechanism: the protocol.
            control: has it.
            stamps: it records a FaultStruck where it sees an effect. If not, effects are attributed by time.
        """
        self._offered[mechanism] = control
        (self._stamping.add if stamps else self._stamping.discard)(mechanism)

    def stamps(self, mechanism: type) -> bool:
        """Whether what is offered under a protocol records its effects."""
        return mechanism in self._stamping

    def act_for(self, fault: int, mechanism: type[Mechanism]) -> Mechanism:
        """What is offered under a protocol, to call verbs for a fault.

        Raises:
            NotImplementedError: nothing is.
        """
        self.acting.fault = fault
        return self[mechanism]

    def __contains__(self, mechanism: type) -> bool:
        return mechanism in self._offered

    def __getitem__(self, mechanism: type[Mechanism]) -> Mechanism:
        """What is offered under a protocol.

        Raises:
            NotImplementedError: nothing is.
        """
        if mechanism not in self._offered:
            raise NotImplementedError(
                f"This deployment offers no {mechanism.__name__}, which a fault needs: offer it, or declare no "
                "capability that needs it."
            )
        control: Mechanism = self._offered[mechanism]
        return control
