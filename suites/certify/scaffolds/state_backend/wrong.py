"""Wrong, against ASY-02: a snapshot copies the outer dict alone, so that later writes show in it."""

from __future__ import annotations

from holdfast.suites.certify.scaffolds.state_backend.right import Backend, Values


class WrongBackend(Backend):
    """The wrong twin of Backend."""

    def view(self) -> Values:
        return dict(self.values)
