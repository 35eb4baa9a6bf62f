"""Room on disk and in memory. Where the disk is full, whatever still ran could be neither stored nor reported: the work
ends at once. Where libraries get too little memory, they end the process, with an exit code of theirs."""

from __future__ import annotations

import os
import shutil
import sys
from errno import EDQUOT, ENOSPC
from pathlib import Path

from holdfast.harness.engine.site.foreign import in_words

SPARED_BYTES = 32 << 20
"""Less than this is no room for a run any more, and enough for the report of what is finished."""


def require_room(folder: Path) -> None:
    """Another run can be stored.

    Raises:
        OSError: there is no room for it.
    """
    if shutil.disk_usage(folder).free < SPARED_BYTES:
        raise OSError(ENOSPC, os.strerror(ENOSPC), str(folder))


def in_one_sentence(error: OSError) -> str:
    """What the machine did not do, with what it was about where that is known."""
    if error.strerror is None:
        return " ".join(str(error).split())
    place = f"{error.filename}: " if error.filename is not None else ""
    room = "; make room, or choose another place with --out" if error.errno in (ENOSPC, EDQUOT) else ""
    return f"{place}{error.strerror}{room}."


def why_it_broke(error: Exception) -> str:
    """Why the harness cannot go on, without a full stop."""
    what = in_one_sentence(error).rstrip(".") if isinstance(error, OSError) else in_words(error)
    return f"the harness broke: {what}"


LEAST_MB = 640
"""Of address space; with less, NumPy's and Arrow's libraries were seen to end the process."""


def lacking_memory() -> str:
    """What memory this process lacks, in one sentence; empty if there is no limit that is too low."""
    if sys.platform == "win32":
        return ""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_MB << 20:
        return ""
    return f"the address space is limited to {limit >> 20} MB (ulimit -v), allowed is {LEAST_MB} MB or more: raise it."
