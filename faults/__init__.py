"""The attacker: one failure domain per file.

Rules of this package:
- A fault is written once, against `spi.Controls`, and works on every system that declares what it `needs`.
- Its undo is idempotent and needs nothing but the spec, so that another process can run it.
- That it landed is proved in `landed` from what the history holds; that it was triggered proves nothing.
- It imports `harness.model` and `harness.spi` only.
"""

from holdfast.faults.damage import DamageCheckpoint
from holdfast.faults.forge import Forge
from holdfast.faults.input import Poison, Surge
from holdfast.faults.messages import DelayMessages, DoubleMessages, LoseMessages
from holdfast.faults.network import BlackHole, Cut, Limit, Reset, Slow
from holdfast.faults.notices import LoseNotices
from holdfast.faults.process import Kill, Pause
from holdfast.faults.replay import Replay
from holdfast.faults.service import Outage
from holdfast.faults.splits import LoseSplits
from holdfast.faults.storage import SlowStorage, StorageError
from holdfast.faults.succession import Supersede
from holdfast.faults.task import SlowTask
from holdfast.faults.truncation import Truncate
from holdfast.faults.user import Cancel, RequestCheckpoint, Submit, Suspend
from holdfast.harness.spi.fault import FaultFactory

FAULTS: tuple[FaultFactory, ...] = (
    Kill,
    Pause,
    Supersede,
    Cut,
    Slow,
    Limit,
    Reset,
    BlackHole,
    Outage,
    StorageError,
    SlowStorage,
    RequestCheckpoint,
    Cancel,
    Suspend,
    Submit,
    SlowTask,
    LoseNotices,
    Replay,
    Forge,
    Poison,
    Surge,
    DamageCheckpoint,
    LoseSplits,
    DelayMessages,
    DoubleMessages,
    LoseMessages,
    Truncate,
)
"""What is registered under `holdfast.faults`, by kind."""
