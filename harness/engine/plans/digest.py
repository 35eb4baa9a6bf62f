"""The name of a plan: what it says, in 64 characters."""

from __future__ import annotations

import hashlib

import msgspec

from holdfast.harness.model.plan import Plan


def plan_digest(plan: Plan) -> str:
    """SHA-256 of the canonical form of a plan, in hexadecimal; two plans that are equal have the same."""
    return hashlib.sha256(msgspec.json.encode(plan, order="deterministic")).hexdigest()
