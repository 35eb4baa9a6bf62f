"""What enters and leaves channels, recorded by the tasks at their ends."""

from __future__ import annotations

from holdfast.harness.model.events.event import Event


class BatchSent(Event, tag="batch_sent"):
    """A batch entered a channel. `position` counts the batches of this channel and attempt from 0. What was in flight
    at the restored cut is not sent again: see ChannelStateRestored, and `origin` of BatchProcessed."""

    channel: str
    position: int
    records: int
    origin: int = 0


class BatchProcessed(Event, tag="batch_processed"):
    """A batch left a channel and took effect on the receiving subtask. One that was in flight at the restored cut has
    the position of its `origin`, the attempt that counted it; 0: this one."""

    channel: str
    position: int
    records: int
    origin: int = 0


class BarrierSent(Event, tag="barrier_sent"):
    """A barrier entered a channel; `overtaking` in front of what waited at its sender."""

    channel: str
    checkpoint: int
    overtaking: bool = False


class BarrierReceived(Event, tag="barrier_received"):
    """A barrier left a channel; `overtaking` in front of what waited at its receiver. `held_bytes` waited then in the
    channels that its receiver had blocked."""

    channel: str
    checkpoint: int
    held_bytes: int = 0
    overtaking: bool = False


class CancellationSent(Event, tag="cancellation_sent"):
    """A marker entered a channel in the place of a barrier: the checkpoint was given up above."""

    channel: str
    checkpoint: int


class CancellationReceived(Event, tag="cancellation_received"):
    """Such a marker left a channel."""

    channel: str
    checkpoint: int


class EndOfDataSent(Event, tag="end_of_data_sent"):
    """The end of the records entered a channel; barriers may follow."""

    channel: str


class EndOfDataReceived(Event, tag="end_of_data_received"):
    """The end of the records left a channel."""

    channel: str


class EndOfPartitionReceived(Event, tag="end_of_partition_received"):
    """The end of its sender left a channel: no barrier will come on it any more."""

    channel: str


class ChannelBlocked(Event, tag="channel_blocked"):
    """Aligned: nothing is taken from this channel until the alignment ends."""

    channel: str
    checkpoint: int


class ChannelUnblocked(Event, tag="channel_unblocked"):
    """The alignment ended or was given up."""

    channel: str
    checkpoint: int


class BuffersResized(Event, tag="buffers_resized"):
    """Buffer debloating: from now on either end of each input of a subtask holds so many batches."""

    subtask: str
    buffers: int
