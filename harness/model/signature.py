"""When two failures are the same one."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.finding import Finding


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True, order=True):
    """Failures with the same signature are one finding, in every certificate and from night to night.

    Attributes:
        clause: the clause that was violated first, as `ORACLE/clause`; the id of a rule where no run shows which.
        damage: what that does to a user, such as `data loss`; empty where no clause is known.
        system: with variant.
    """

    clause: str
    damage: str
    system: str

    def __str__(self) -> str:
        """As it stands in reports and in waivers."""
        return f"{self.label} in {self.system}"

    @property
    def label(self) -> str:
        """The same without the system."""
        return f"{self.clause} ({self.damage})" if self.damage else self.clause


def signature_of(finding: Finding, system: str) -> Signature:
    """The signature of what was refuted on a system."""
    if finding.cause is None:
        return Signature(", ".join(finding.rules), "", system)
    return Signature(finding.cause.name, finding.cause.damage.value if finding.cause.damage else "", system)
