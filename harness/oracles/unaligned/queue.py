"""QUEUE: with buffer debloating, channels hold about what their receiver takes in the target time (RULES UNA-08).

How long a batch waits is the receiver's clock less the sender's; it orders nothing. Sizes need time to settle, so what
was sent soon after a start, a fault or its end is left out, as is the wait behind it. One buffer at either end there
always is. Sizes follow a receiver that is slow; while any other fault acts, of a link for one, batches wait for its
sake.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from math import ceil, log
from statistics import median

from holdfast.harness.model import profile
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import (
    BatchProcessed,
    BatchSent,
    BuffersResized,
    Event,
    FaultHealed,
    FaultInjected,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.shared.clocks import Clocks
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.oracles.shared.layout import widest_layout
from holdfast.harness.oracles.shared.options import NS_PER_MS, milliseconds, number
from holdfast.harness.oracles.shared.stated_options import texts

FEWEST = 20
"""Batches that say something about a size."""
TOLERANCE = 2.0
SPARE_PERIODS = 4


class QueueOracle:
    """Decides how long batches wait in channels."""

    name = "QUEUE"
    title = "buffer debloating"
    invariant = "With buffer debloating what is in flight is taken in about the target time."
    clauses: Mapping[str, str] = {
        "queued-too-long": "batches wait for far longer than the target time, and than one buffer at either end takes",
        "buffers-outside": "an input is given no buffer, or more than are configured",
    }
    evidence: tuple[type[Event], ...] = (BatchSent, BatchProcessed)

    def applies(self, history: History) -> bool:
        return texts(history.plan).get(profile.DEBLOAT, "").lower() == "true"

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        configured = number(history.plan, profile.BUFFERS_PER_CHANNEL, 8)
        for resized in history.of(BuffersResized):
            findings.check("buffers-outside")
            if not 1 <= resized.buffers <= configured:
                message = (
                    f"{resized.subtask} gives its inputs {plural(resized.buffers, 'buffer')}, "
                    f"{configured} are configured"
                )
                findings.violated("buffers-outside", message, resized)
        _Queues(history, findings, configured).close()
        return findings.verdict(history)


class _Queues:
    """One pass over a history.

    Attributes:
        settled_ns: from then on sizes are right, unless something happens, where enough was processed.
        fewest_processed: batches from which a throughput is known, one in each period at most.
        processed: by attempt and subtask, batches since something happened.
        acting: faults that do more than slow a receiver.
        early: by attempt and subtask, batches on their way to it that were sent before: they hold up what comes behind.
        drained: the last of these that was processed. Behind it a wait begins for those that were sent meanwhile.
        sent: batches that were sent when they were.
        taken: by attempt and subtask, those of them that were processed, with how many milliseconds each waited.
    """

    def __init__(self, history: History, findings: Findings, configured: int) -> None:
        plan = history.plan
        self.findings = findings
        self.exempt = exemptions(history)
        self.clocks = Clocks(history, self.exempt)
        self.inputs = widest_layout(history).inputs
        self.target_ms = milliseconds(plan, profile.DEBLOAT_TARGET, 1_000)
        weight = 2 / (number(plan, profile.DEBLOAT_SAMPLES, 20) + 1)
        periods = ceil(log(max(configured, 2)) / -log(1 - weight)) if weight < 1 else 1
        self.fewest_processed = periods + SPARE_PERIODS
        self.settling_ns = self.fewest_processed * milliseconds(plan, profile.DEBLOAT_PERIOD, 200) * NS_PER_MS
        self.settled_ns = 0
        self.acting: set[int] = set()
        self.processed: Counter[tuple[int, str]] = Counter()
        self.early: dict[tuple[int, str], set[tuple[str, int]]] = {}
        self.drained: dict[tuple[int, str], BatchProcessed] = {}
        self.sent: dict[tuple[int, str, int], BatchSent] = {}
        self.taken: dict[tuple[int, str], list[tuple[BatchProcessed, float]]] = {}
        replay(
            history,
            {
                TaskStarted: self._unsettle,
                FaultInjected: self._injected,
                FaultHealed: self._healed,
                BatchSent: self._sent,
                BatchProcessed: self._processed,
            },
        )

    def _unsettle(self, event: Event) -> None:
        self.settled_ns = event.time_ns + self.settling_ns
        self.processed.clear()

    def _injected(self, event: FaultInjected) -> None:
        self._unsettle(event)
        if not self.exempt.is_only(event, Consequence.SLOWS_TASK, Consequence.HOLDS_UP_RECORDS):
            self.acting.add(event.fault)

    def _healed(self, event: FaultHealed) -> None:
        self._unsettle(event)
        self.acting.discard(event.fault)

    def _sent(self, event: BatchSent) -> None:
        known = self.processed[_receiver(event)] >= self.fewest_processed
        if known and event.time_ns > self.settled_ns and not self.acting:
            self.sent[event.attempt, event.channel, event.position] = event
        else:
            self.early.setdefault(_receiver(event), set()).add((event.channel, event.position))

    def _processed(self, event: BatchProcessed) -> None:
        if event.origin:
            return
        receiver, batch = _receiver(event), (event.channel, event.position)
        self.processed[receiver] += 1
        early = self.early.get(receiver, set())
        if batch in early:
            early.remove(batch)
            self.drained[receiver] = event
        sent = self.sent.get((event.attempt, *batch))
        if sent is not None and not early:
            waited_ms = self.clocks.running_ms(sent, event)
            drained = self.drained.get(receiver)
            if drained is not None:
                waited_ms = min(waited_ms, self.clocks.running_ms(drained, event))
            self.taken.setdefault(receiver, []).append((event, waited_ms))

    def close(self) -> None:
        """Judge each subtask in each attempt."""
        for (_, subtask), batches in self.taken.items():
            if len(batches) < FEWEST:
                continue
            self.findings.check("queued-too-long")
            gap_ns = median(later.time_ns - earlier.time_ns for (earlier, _), (later, _) in pairwise(batches))
            fewest_ms = (2 * len(self.inputs[subtask]) + 1) * gap_ns / NS_PER_MS
            bound_ms = TOLERANCE * max(self.target_ms, fewest_ms)
            waited_ms = median(each for _, each in batches)
            if waited_ms > bound_ms:
                message = (
                    f"batches wait for {waited_ms:.0f} ms at {subtask}; the target is {self.target_ms} ms, and one "
                    f"buffer at either end takes {fewest_ms:.0f} ms"
                )
                self.findings.violated("queued-too-long", message, batches[len(batches) // 2][0])


def _receiver(event: BatchSent | BatchProcessed) -> tuple[int, str]:
    """Attempt and subtask that a batch goes to."""
    return event.attempt, event.channel.partition("->")[2]
