"""How faults act on a system: one small protocol for each mechanism, of which a deployment offers those that it has.

Rules of this package:
- A fault names the one protocol that it needs; the engine hands it what the deployment offers under that name.
- Who offers a protocol has all of it. What holds for some targets or parameters only is a capability besides.
- Every verb acts at once, and returns when it has acted (on real tiers: when the kernel or the relay has confirmed it).
- Targets are those of the plan; an unknown target raises ValueError and is named.
- Verbs are called by the engine's thread only, between two calls of `Deployment.advance`.
- A mechanism of a third party is a protocol of its own: nothing here lists them all.
"""

from __future__ import annotations

from typing import Any, TypeVar

Mechanism = TypeVar("Mechanism")


class Controls:
    """The mechanisms that a deployment offers, by their protocols."""

    def __init__(self) -> None:
        self._offered: dict[type, Any] = {}

    def offer(self, mechanism: type[Mechanism], control: Mechanism) -> None:
        """Offer a mechanism; replaces an earlier offer of the same."""
        self._offered[mechanism] = control

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
