"""Hand-made histories by oracle. Importing this package fills `builder.HISTORIES`."""

from __future__ import annotations

from holdfast.suites.selfcheck.oracles.histories import (
    chain,
    config,
    coord,
    count,
    cut,
    exact,
    failed_checkpoints,
    live,
    loud,
    metrics,
    noloss,
    operators,
    pace,
    reach,
    region,
    restore,
    splits,
    stable,
    txn,
    window,
)

__all__ = [
    "chain",
    "config",
    "coord",
    "count",
    "cut",
    "exact",
    "failed_checkpoints",
    "live",
    "loud",
    "metrics",
    "noloss",
    "operators",
    "pace",
    "reach",
    "region",
    "restore",
    "splits",
    "stable",
    "txn",
    "window",
]
