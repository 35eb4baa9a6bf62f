"""Sockets that PySpark and Py4J drop open."""

from __future__ import annotations

import gc
import warnings


def collect_sockets() -> None:
    """Collect them here, or it would be held against whatever test is running when they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
