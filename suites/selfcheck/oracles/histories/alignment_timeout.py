"""Histories for CUT: checkpoints that may overtake from some moment on. Every event takes one millisecond."""

from __future__ import annotations

from holdfast.harness.model.jobs import BROADCAST, JOIN, KEYED_SUM
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import Role, Target
from holdfast.suites.selfcheck.oracles.builder import OPTIONS, Line, exhibits, injected
from holdfast.suites.selfcheck.oracles.lines import (
    Barrier,
    attempt,
    delivers,
    drawn,
    heard,
    overtaking,
    sends,
    snapshot,
    triggered,
)

CHANNEL = "source[0]->sum[0]"
UNALIGNED = {**OPTIONS, "execution.checkpointing.unaligned.enabled": "true"}
PATIENT = {**UNALIGNED, "execution.checkpointing.alignment-timeout": "100 ms"}
WAITED_MS = 200.0
"""Longer than the timeout, however far two clocks are apart."""


bad, near = exhibits("CUT", attempt(), options=PATIENT)

bad(
    "aligned-too-long", "aligned behind the timeout",
    triggered(), WAITED_MS, snapshot(f"{KEYED_SUM.vertices[-2].name}[0]"),
)  # fmt: skip

bad(
    "begins-aligned", "aligned without a timeout",
    triggered(), snapshot(f"{KEYED_SUM.vertices[-2].name}[0]"), options=UNALIGNED,
)  # fmt: skip
bad(
    "begins-aligned", "aligned though either input may be overtaken",
    triggered(), snapshot(f"{JOIN.vertices[-2].name}[0]"), options=UNALIGNED, job=JOIN,
)  # fmt: skip

# A source has no such input.
near(
    "begins-aligned", "aligned as one input is broadcast",
    triggered(), snapshot("source[0]", unaligned=True), snapshot(f"{BROADCAST.vertices[-2].name}[0]"),
    options=UNALIGNED, job=BROADCAST,
)  # fmt: skip
near(
    "begins-aligned", "unaligned without a timeout",
    triggered(), snapshot(f"{KEYED_SUM.vertices[-2].name}[0]", unaligned=True), options=UNALIGNED,
)  # fmt: skip

near(
    "aligned-too-long", "aligned behind the timeout as one input is broadcast",
    triggered(), WAITED_MS, snapshot("source[0]", unaligned=True), snapshot(f"{BROADCAST.vertices[-2].name}[0]"),
    job=BROADCAST,
)  # fmt: skip

# The trigger is on its way for longer than the timeout.
near(
    "aligned-too-long", "a source has nothing to align",
    triggered(), WAITED_MS, snapshot("source[0]"), snapshot("sum[0]", unaligned=True),
)  # fmt: skip
near(
    "aligned-too-long", "unaligned behind the timeout",
    triggered(), WAITED_MS, snapshot(f"{KEYED_SUM.vertices[-2].name}[0]", unaligned=True),
)  # fmt: skip

bad(
    "overtook-early", "unaligned before the timeout",
    triggered(), snapshot(f"{KEYED_SUM.vertices[-2].name}[0]", unaligned=True),
)  # fmt: skip
bad("overtook-early", "overtaken before the timeout", triggered(), sends(CHANNEL, Barrier(1)), overtaking(CHANNEL))


bad(
    "overtook-early", "overtaken soon after the id was drawn",
    drawn(1), 50.0, triggered(), sends(CHANNEL, Barrier(1)), overtaking(CHANNEL),
)  # fmt: skip
near(
    "overtook-early", "the barrier carries when the id was drawn",
    drawn(1), WAITED_MS, triggered(), sends(CHANNEL, Barrier(1)), overtaking(CHANNEL),
)  # fmt: skip
near("overtook-early", "aligned before the timeout", triggered(), snapshot(f"{KEYED_SUM.vertices[-2].name}[0]"))

QUEUE: list[Line] = [sends(CHANNEL, 0, 1, 2, 3, 4, 5), triggered(), sends(CHANNEL, Barrier(1)), delivers(CHANNEL, 0, 1)]
"""A barrier is sent behind six batches; two are processed before the timeout, and then what is given."""


bad(
    "barrier-waits", "barrier waits for its queue",
    *QUEUE, WAITED_MS, delivers(CHANNEL, 2, 3, 4, 5), delivers(CHANNEL, Barrier(1)),
)  # fmt: skip
near("barrier-waits", "barrier overtakes its queue", *QUEUE, WAITED_MS, delivers(CHANNEL, 2), overtaking(CHANNEL))
near(
    "barrier-waits", "queue is processed in time",
    *QUEUE, delivers(CHANNEL, 2, 3, 4, 5), WAITED_MS, delivers(CHANNEL, Barrier(1)),
)  # fmt: skip

ABORTED: list[Line] = [
    sends(CHANNEL, 0, 1, 2, 3, 4, 5), triggered(), sends(CHANNEL, Barrier(1)), delivers(CHANNEL, 0, 1),
]  # fmt: skip
"""One side hears of an aborted checkpoint; then the queue in front of the barrier is worked off."""

END_OF_ABORTED: list[Line] = [WAITED_MS, delivers(CHANNEL, 2, 3, 4, 5), delivers(CHANNEL, Barrier(1))]
"""One side hears of an aborted checkpoint; then the queue in front of the barrier is worked off."""


bad(
    "barrier-waits", "barrier waits though another checkpoint was aborted",
    *ABORTED, heard(CHANNEL.split("->")[1], 2, completed=False), *END_OF_ABORTED,
)  # fmt: skip
near(
    "barrier-waits", "barrier of an aborted checkpoint keeps its place",
    *ABORTED, heard(CHANNEL.split("->")[1], completed=False), *END_OF_ABORTED,
)  # fmt: skip
near(
    "barrier-waits", "whoever sent the barrier hears that it was given up",
    *ABORTED, heard(CHANNEL.split("->")[0], completed=False), *END_OF_ABORTED,
)  # fmt: skip
bad(
    "barrier-waits", "whoever sent the barrier hears of another",
    *ABORTED, heard(CHANNEL.split("->")[0], 2, completed=False), *END_OF_ABORTED,
)  # fmt: skip

BEHIND_A_LATE_CHANNEL: list[Line] = [
    sends(CHANNEL, 0, 1, 2, 3, 4, 5), triggered(), sends(CHANNEL, Barrier(1)), delivers(CHANNEL, 0, 1), WAITED_MS,
]  # fmt: skip


near(
    "aligned-too-long", "late channel brings its queue first",
    *BEHIND_A_LATE_CHANNEL, injected("slow", "channel[0]"), delivers(CHANNEL, 2, 3, 4, 5),
    delivers(CHANNEL, Barrier(1)), snapshot("sum[0]", unaligned=True),
    faults=(FaultSpec("slow", Target(Role.CHANNEL, 0), parameters={"delay_ms": 300}),),
)  # fmt: skip

bad(
    "barrier-waits", "its channel was to be late and never was",
    *BEHIND_A_LATE_CHANNEL, delivers(CHANNEL, 2, 3, 4, 5), delivers(CHANNEL, Barrier(1)),
    snapshot("sum[0]", unaligned=True),
    faults=(FaultSpec("slow", Target(Role.CHANNEL, 0), parameters={"delay_ms": 300}),),
)  # fmt: skip
