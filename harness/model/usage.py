"""What a certification needed of the machine."""

from __future__ import annotations

import msgspec


class Usage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of all its processes together.

    Attributes:
        processor_s: processor time.
        peak_memory_mb: memory at the moment when it was most; 0: not known.
    """

    processor_s: float
    peak_memory_mb: float
