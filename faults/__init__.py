"""The attacker: one failure domain per file.

Rules of this package:
- A fault is written once, against one mechanism (`spi.controls`), and works on every system that offers it.
- Its undo is idempotent and needs nothing but the spec, so that another process can run it.
- That it landed is proved by two things: its mechanism recorded an effect as this injection's (a FaultStruck), and
  `landed` finds in the history what such a fault does. That it was triggered proves nothing.
- How it is drawn stands beside it, as `attacks` (spi.attack), and so does a function that builds it for a case.
- It imports `harness.model` and `harness.spi` only.
"""

from holdfast.faults.clock import JumpClock, SkewClock
from holdfast.faults.damage import DamageCheckpoint
from holdfast.faults.forge import Forge
from holdfast.faults.input import Poison, Surge
from holdfast.faults.listing import ListPart
from holdfast.faults.local_copy import SpoilLocalCopy
from holdfast.faults.membership import Leave
from holdfast.faults.messages import DelayMessages, DoubleMessages, LoseMessages
from holdfast.faults.network import BlackHole, Cut, Limit, Reset, Slow
from holdfast.faults.notices import LoseNotices
from holdfast.faults.power import LosePower
from holdfast.faults.process import Kill, Pause
from holdfast.faults.replay import Replay
from holdfast.faults.savepoint import CancelWithSavepoint, MoveSavepoint, StopWithSavepoint, TakeSavepoint
from holdfast.faults.service import Outage
from holdfast.faults.splits import LoseSplits
from holdfast.faults.stale_listing import StaleListing
from holdfast.faults.storage import FullStorage, SlowStorage, StorageError
from holdfast.faults.succession import Supersede
from holdfast.faults.task import SlowTask
from holdfast.faults.truncation import Truncate
from holdfast.faults.upgrade import Upgrade
from holdfast.faults.user import Cancel, RequestCheckpoint, Rescale, Submit, Suspend
from holdfast.harness.spi.fault import FaultFactory

FAULTS: tuple[FaultFactory, ...] = (
    Kill,
    Pause,
    Supersede,
    Cut,
    Slow,
    SlowTask,
    StorageError,
    FullStorage,
    Poison,
    Surge,
    SlowStorage,
    LoseNotices,
    RequestCheckpoint,
    DelayMessages,
    DoubleMessages,
    LoseMessages,
    Forge,
    Truncate,
    LoseSplits,
    ListPart,
    Limit,
    Reset,
    BlackHole,
    Outage,
    DamageCheckpoint,
    Cancel,
    Suspend,
    Submit,
    Replay,
    JumpClock,
    SkewClock,
    Upgrade,
    LosePower,
    StaleListing,
    TakeSavepoint,
    StopWithSavepoint,
    MoveSavepoint,
    SpoilLocalCopy,
    Leave,
    CancelWithSavepoint,
    Rescale,
)
"""What is registered under `holdfast.faults`. Of what is drawn by weight this is the order: another order, and a seed
draws another plan."""
