"""A plan as JSON that a person can read and edit."""

from __future__ import annotations

from pathlib import Path

from holdfast.harness.engine.artefacts.decode import check_version, decode
from holdfast.harness.engine.artefacts.files import read_content, write_readable
from holdfast.harness.model.plan import PLAN_VERSION, Plan


def read_plan(raw: bytes, source: str) -> Plan:
    """A plan from its JSON.

    Raises:
        UsageError: one sentence that names the source and the field.
    """
    check_version(raw, PLAN_VERSION, "plan", source)
    return decode(raw, Plan, source)


def read_plan_file(path: Path) -> Plan:
    """A plan from a file.

    Raises:
        UsageError: it cannot be read or is no plan.
    """
    return read_plan(read_content(path), str(path))


def write_plan(path: Path, plan: Plan) -> None:
    """A plan in a form that a person can read and edit."""
    write_readable(path, plan)
