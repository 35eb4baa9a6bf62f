"""An observer of a certification who does not look."""

from __future__ import annotations

from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import CaseResult


class Silent:
    """See certify.Observer."""

    def expect(self, cases: object) -> None: ...

    def begin(self, case: str, tier: Tier, demanded: int) -> None: ...

    def ran(self, result: object, kept: object) -> None: ...

    def shrinking(self, result: object) -> None: ...

    def shrunk(self, result: object, small: object) -> None: ...

    def end(self, result: CaseResult) -> None: ...
