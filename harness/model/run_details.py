"""What is shown of one run and too large for `results.json`: a file beside the run."""

from __future__ import annotations

import msgspec

from holdfast.harness.model.checkpoint_history import CheckpointHistory
from holdfast.harness.model.picture import Picture

DETAILS_VERSION = 1


class RunDetails(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`details.json` of a stored run.

    Attributes:
        version: schema version.
        checkpoint_history: what the system reported of its checkpoints; None: nothing.
        pictures: that the case asks for.
    """

    version: int = DETAILS_VERSION
    checkpoint_history: CheckpointHistory | None = None
    pictures: tuple[Picture, ...] = ()
