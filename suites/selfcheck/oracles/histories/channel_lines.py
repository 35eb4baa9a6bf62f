"""Channels of the keyed sum with two sources, and of the forward job."""

from __future__ import annotations

LEFT, RIGHT, ACROSS = "source[0]->sum[0]", "source[1]->sum[0]", "source[0]->sum[1]"
BELOW, LONE = "sum[0]->sink[0]", "source[0]->map[0]"
COUNTING = {"execution.checkpointing.interval": "100 ms", "execution.checkpointing.mode": "AT_LEAST_ONCE"}
