"""What the faults of one plan are drawn for."""

from __future__ import annotations

import msgspec

from holdfast.harness.engine.swarm.mix import Mix
from holdfast.harness.model.job import Job, VertexKind
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.sim.streams import Stream


class Scene(msgspec.Struct, frozen=True):
    """What the faults of one plan are drawn for.

    Attributes:
        state_files: state is stored in files, so storage takes part.
        has_channels: not all operators are in one chain.
        drops: each completion drops an older checkpoint from the second on.
        overlapping: a checkpoint may complete soon after another one.
        backlog: input has piled up before the job starts, more than its buffers hold.
        settled_start: faults wait for the first checkpoint, because before it the right answer is not determined.
    """

    stream: Stream
    mix: Mix
    job: Job
    topology: Topology
    interval_ms: int
    state_files: bool
    drops: bool
    overlapping: bool
    settled_start: bool
    has_channels: bool
    backlog: bool = False

    @property
    def late_rows(self) -> bool:
        """Rows are held back until the input ends."""
        return bool(self.job.of_kind(VertexKind.REDUCE))

    def worker(self) -> Target:
        return Target(Role.WORKER, self.stream.below(self.topology.parallelism))
