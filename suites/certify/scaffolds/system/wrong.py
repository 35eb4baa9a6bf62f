"""Wrong, against E2E-02: its workers keep sums in memory, and a restart begins with none."""

from __future__ import annotations

from pathlib import Path

from holdfast.suites.certify.scaffolds.system.right import Engine


class WrongEngine(Engine):
    """The wrong twin of Engine."""

    program = Path(__file__).with_name("wrong_worker.py")
