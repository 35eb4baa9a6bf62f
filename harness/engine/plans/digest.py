"""The name of a plan: what it says, in 64 characters."""

from __future__ import annotations

import hashlib

import msgspec

from holdfast.harness.model.plan import Plan

_SINCE_VERSION_2 = ("after_acknowledged", "after_restored")
"""Fields of a schedule that plans of version 1 do not have."""


def plan_digest(plan: Plan) -> str:
    """SHA-256 of the canonical form of a plan, in hexadecimal; two plans that are equal have the same."""
    if plan.version >= 2:
        return hashlib.sha256(msgspec.json.encode(plan, order="deterministic")).hexdigest()
    content = msgspec.to_builtins(plan)
    for fault in content["faults"]:
        for field in _SINCE_VERSION_2:
            if not fault["schedule"][field]:
                del fault["schedule"][field]
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()
