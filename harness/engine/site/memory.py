"""Whether this process may have the memory that it needs. Its libraries do not fail where they get too little: they end
the process, with an exit code of theirs."""

from __future__ import annotations

import sys

LEAST_MB = 640
"""Of address space; with less, NumPy's and Arrow's libraries were seen to end the process."""


def lacking_memory() -> str:
    """What is missing, in one sentence; empty if there is no limit that is too low."""
    if sys.platform == "win32":
        return ""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_MB << 20:
        return ""
    return f"the address space is limited to {limit >> 20} MB (ulimit -v), allowed is {LEAST_MB} MB or more: raise it."
