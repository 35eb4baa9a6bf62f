"""The oracles: one invariant per file, in folders named as the areas of the rules, with `output` and `liveness` beside.

An area holds what its oracles alone are made of: traces (what happened, read off a history), models (what ought to
happen) and files that decide some clauses of one oracle. No area imports another one. Below the areas lies `output`
(committed rows, judged and counted), and below that `shared`, what several areas use.

Rules of this package:
- An oracle reads a history and returns a verdict. It imports `harness.model` and nothing else of ours, keeps no state
  between two histories, and shares no code with any system that it judges.
- Traces record, models predict, and neither reports a violation: that is for the oracle, or a file that decides some of
  its clauses. Who may not be blamed is worked out in `shared.exemptions`, and nowhere else.
- What a coordinator reports after it was superseded concerns no job any more: only an oracle with `sees_superseded` is
  given these events.
- A clause is a named way to break the invariant. What was decided is counted by clause, whichever way it went: a clause
  that had nothing to decide is not passed. Evidence that is missing leaves its clauses undecided.
- Two nodes are never ordered by timestamps: a violation is shown by the order of one node, a message edge, or the
  lives of a coordinator, which follow each other. Exceptions are named where they are made: the end of the run and of
  its faults stands on the harness's clock; a start delay, an alignment timeout and the time that a batch is queued are
  by definition the reading of one clock less that of another.
- An oracle does not raise on a strange history, and reports only what cannot have been right. Where a kill may have
  come in between, it reports nothing.
- Judging is part of every simulated run: one pass over the kinds that are needed, no sorting, work in proportion to
  what there is to decide.
"""

from __future__ import annotations

from holdfast.harness.oracles.asynchronous.snapshot import SnapshotOracle
from holdfast.harness.oracles.barriers.chain import ChainOracle
from holdfast.harness.oracles.barriers.cut import CutOracle
from holdfast.harness.oracles.barriers.state import StateOracle
from holdfast.harness.oracles.configuration.config import ConfigOracle
from holdfast.harness.oracles.configuration.loud import LoudOracle
from holdfast.harness.oracles.coordinator.coord import CoordOracle
from holdfast.harness.oracles.coordinator.fence import FenceOracle
from holdfast.harness.oracles.coordinator.reach import ReachOracle
from holdfast.harness.oracles.coordinator.trend import TrendOracle
from holdfast.harness.oracles.finished_tasks.final import FinalOracle
from holdfast.harness.oracles.incremental.shared import SharedOracle
from holdfast.harness.oracles.iteration.feedback import FeedbackOracle
from holdfast.harness.oracles.liveness.live import LiveOracle
from holdfast.harness.oracles.liveness.message import MessageOracle
from holdfast.harness.oracles.liveness.progress import ProgressOracle
from holdfast.harness.oracles.observability.metrics import MetricsOracle
from holdfast.harness.oracles.output.exact import ExactOracle
from holdfast.harness.oracles.output.invariant import InvariantOracle
from holdfast.harness.oracles.output.noloss import NoLossOracle
from holdfast.harness.oracles.output.norepeat import NoRepeatOracle
from holdfast.harness.oracles.output.stable import StableOracle
from holdfast.harness.oracles.output.window import WindowOracle
from holdfast.harness.oracles.recovery.local_copies import LocalOracle
from holdfast.harness.oracles.recovery.place import PlaceOracle
from holdfast.harness.oracles.recovery.region import RegionOracle
from holdfast.harness.oracles.recovery.reported_checkpoints import ReportedCheckpointsOracle
from holdfast.harness.oracles.recovery.reread import RereadOracle
from holdfast.harness.oracles.recovery.rescale import RescaleOracle
from holdfast.harness.oracles.recovery.restore import RestoreOracle
from holdfast.harness.oracles.recovery.time import TimeOracle
from holdfast.harness.oracles.recovery.ttl import TtlOracle
from holdfast.harness.oracles.restart.count import CountOracle
from holdfast.harness.oracles.retention.retain import RetainOracle
from holdfast.harness.oracles.savepoints.savepoint import SavepointOracle
from holdfast.harness.oracles.sinks.txn import TxnOracle
from holdfast.harness.oracles.triggering.pace import PaceOracle
from holdfast.harness.oracles.unaligned.queue import QueueOracle

ORACLES = (
    CutOracle(),
    ChainOracle(),
    SnapshotOracle(),
    CoordOracle(),
    FenceOracle(),
    PaceOracle(),
    QueueOracle(),
    SharedOracle(),
    ReachOracle(),
    RetainOracle(),
    SavepointOracle(),
    RescaleOracle(),
    PlaceOracle(),
    RestoreOracle(),
    StateOracle(),
    TimeOracle(),
    TtlOracle(),
    TxnOracle(),
    LoudOracle(),
    ConfigOracle(),
    FinalOracle(),
    MessageOracle(),
    ProgressOracle(),
    LiveOracle(),
    CountOracle(),
    RegionOracle(),
    MetricsOracle(),
    TrendOracle(),
    RereadOracle(),
    ExactOracle(),
    NoLossOracle(),
    NoRepeatOracle(),
    FeedbackOracle(),
    WindowOracle(),
    StableOracle(),
    InvariantOracle(),
    LocalOracle(),
    ReportedCheckpointsOracle(),
)
"""The built-in oracles; the first to name an anomaly is the nearest to its cause."""
