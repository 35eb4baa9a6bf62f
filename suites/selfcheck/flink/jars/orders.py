"""What goes into the jars beside it, and what must come out."""

from __future__ import annotations

from typing import Any

SCHEMA = "order_id string, amount long"
UNIQUE = ["order_id"]


def generate(number: int, partition: int, offset: int, random: Any) -> dict[str, str | int]:
    return {"order_id": f"order-{number}", "amount": random.randrange(100)}
