"""The oracles: one invariant per file.

Below them lies what they are made of: `traces` (what happened, read off a history), `models` (what ought to happen),
`output` (committed rows, counted) and `clauses` (parts of one oracle).

Rules of this package:
- An oracle reads a history and returns a verdict. It imports `harness.model` and nothing else of ours, keeps no state
  between two histories, and shares no code with any system that it judges.
- A coordinator that was superseded while it lived tells of no job any more: only an oracle with `sees_superseded` is
  handed what it says from then on.
- A clause is a named way to break the invariant. What was decided is counted by clause, whichever way it went: a clause
  that had nothing to decide is not passed. Evidence that is missing leaves its clauses undecided.
- Two nodes are never ordered by timestamps: an accusation rests on the order of one node, on a message edge, or on the
  lives of a coordinator, which follow each other. Exceptions are named where they are made: the end of the run and of
  its faults stands on the harness's clock; a start delay, an alignment timeout and the time that a batch is queued are
  by definition the reading of one clock less that of another.
- An oracle does not raise on a strange history, and accuses only of what cannot have been right. Where a kill may have
  come in between, it says nothing.
- Judging is part of every simulated run: one pass over the kinds that are needed, no sorting, work in proportion to
  what there is to decide.
"""

from __future__ import annotations

from holdfast.harness.oracles.chain import ChainOracle
from holdfast.harness.oracles.config import ConfigOracle
from holdfast.harness.oracles.coord import CoordOracle
from holdfast.harness.oracles.count import CountOracle
from holdfast.harness.oracles.cut import CutOracle
from holdfast.harness.oracles.exact import ExactOracle
from holdfast.harness.oracles.feedback import FeedbackOracle
from holdfast.harness.oracles.fence import FenceOracle
from holdfast.harness.oracles.final import FinalOracle
from holdfast.harness.oracles.live import LiveOracle
from holdfast.harness.oracles.loud import LoudOracle
from holdfast.harness.oracles.metrics import MetricsOracle
from holdfast.harness.oracles.noloss import NoLossOracle
from holdfast.harness.oracles.norepeat import NoRepeatOracle
from holdfast.harness.oracles.pace import PaceOracle
from holdfast.harness.oracles.queue import QueueOracle
from holdfast.harness.oracles.reach import ReachOracle
from holdfast.harness.oracles.region import RegionOracle
from holdfast.harness.oracles.reread import RereadOracle
from holdfast.harness.oracles.restore import RestoreOracle
from holdfast.harness.oracles.retain import RetainOracle
from holdfast.harness.oracles.snapshot import SnapshotOracle
from holdfast.harness.oracles.stable import StableOracle
from holdfast.harness.oracles.state import StateOracle
from holdfast.harness.oracles.trend import TrendOracle
from holdfast.harness.oracles.txn import TxnOracle
from holdfast.harness.oracles.window import WindowOracle

ORACLES = (
    CutOracle(),
    ChainOracle(),
    SnapshotOracle(),
    CoordOracle(),
    FenceOracle(),
    PaceOracle(),
    QueueOracle(),
    ReachOracle(),
    RetainOracle(),
    RestoreOracle(),
    StateOracle(),
    TxnOracle(),
    LoudOracle(),
    ConfigOracle(),
    FinalOracle(),
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
)
"""The built-in oracles; the first to name an anomaly is the nearest to its cause."""
