"""Lives of processes, what was done to them, and what the machine did, recorded by the harness."""

from __future__ import annotations

from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events.event import Event

LEFT = "leave"
"""The cause of an orderly end, which was requested."""
BY_HARNESS = frozenset({"kill", "killed", LEFT})
"""The causes of a death that a fault brought about."""


class NodeStarted(Event, tag="node_started"):
    """A process (on the simulator: a node) began to live."""


class NodeDied(Event, tag="node_died"):
    """It ended; recorded by the harness under a node of its own, because the dead write nothing.

    Attributes:
        dead_node: the life that is over.
        cause: one of BY_HARNESS, or what is known of it.
        by_error: it ended by an error of its own (an unhandled exception, an exit code, a crash).
    """

    dead_node: str
    cause: str
    by_error: bool = False


class FaultInjected(Event, tag="fault_injected"):
    """A fault began to act.

    Attributes:
        fault: its index in the plan.
        fault_kind: such as `kill`.
        target: role and index, such as `worker[1]`.
        may_cause: what the fault declares that it may cause; None: it declares nothing.
        stamped: its mechanism records a FaultStruck for what it does. If not, the system cannot carry an identity, and
            effects are attributed by time: to the fault of their kind that was injected last.
    """

    fault: int
    fault_kind: str
    target: str
    may_cause: tuple[Consequence, ...] | None = None
    stamped: bool = False


class FaultStruck(Event, tag="fault_struck"):
    """A mechanism saw an injection take effect: a call failed, a message was held up, a process was gone. Recorded
    there and then, by whoever saw it; that a fault was injected is no reason to record it.

    Attributes:
        fault: whose effect it is; its index in the plan.
        what: it acted on, such as an operation, a channel or a life of a process.
    """

    fault: int
    what: str


class FaultHealed(Event, tag="fault_healed"):
    """A fault was undone and the undo was checked. Fields as the first of FaultInjected."""

    fault: int
    fault_kind: str
    target: str


class InputTruncated(Event, tag="input_truncated"):
    """The source system has removed the records of a partition in front of an offset; recorded by the harness."""

    partition: int
    next_offset: int


class InputDelayed(Event, tag="input_delayed"):
    """Records of a partition arrive only now, and were due since `since_ns`: the harness feeds a system no faster than
    it comes after. Recorded by the harness."""

    partition: int
    since_ns: int


class MessageDisturbed(Event, tag="message_disturbed"):
    """A fault of the plan acted on a control message, recorded by the process that sent it. `attempt` is the message's.

    Attributes:
        message: a MessageKind.
        way: `delay`, `double` or `lose`.
        worker: whose connection with the coordinator it was sent on.
        subtask: whose message it is, or for whom; empty where it is about none.
        checkpoint: that it is about; 0: none.
        delay_ms: how much later it arrives, or a copy of it.
        with_connection: it was lost together with its connection.
    """

    message: str
    way: str
    worker: int
    subtask: str = ""
    checkpoint: int = 0
    delay_ms: int = 0
    with_connection: bool = False


class ConnectionsRefused(Event, tag="connections_refused"):
    """Processes outside the run have connected to its processes, and were refused. Recorded when the run is over.

    Attributes:
        connections: how many.
        link: to a service, which cannot require a token: such a process may have reached the service itself. Empty: to
            processes of ours, which only the run reaches.
    """

    connections: int
    link: str = ""


class MachineStalled(Event, tag="machine_stalled"):
    """Processes of the run waited for a processor or a disk, in a stretch of time that ends with this event.

    Attributes:
        since_ns: when the stretch began, as `time_ns`.
        stalled_ns: how long at most the thread that waited longest waited in it.
    """

    since_ns: int
    stalled_ns: int
