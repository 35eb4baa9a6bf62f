"""REGION: a failure restarts the regions that it hits, whole, and no other (RULES REC-06).

A region is a connected component of subtasks, by channels and chains; under full failover the whole job is one. Who is
hit follows from what failed: a subtask, those of a worker that died, or, where it was something of the job's own, all.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.harness.model import profile
from holdfast.harness.model.events import (
    AttemptStarted,
    Event,
    FailureCounted,
    NodeDied,
    RecordFailed,
    RecoveryFailed,
    StorageFailed,
    TaskStarted,
)
from holdfast.harness.model.history import History
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.topology import channel_ends
from holdfast.harness.model.verdict import Verdict
from holdfast.harness.oracles.findings import Findings, replay
from holdfast.harness.oracles.shared.layout import Layout, Layouts, layout_of
from holdfast.harness.oracles.shared.stated_options import texts


class RegionOracle:
    """Compares what restarts with what failed."""

    name = "REGION"
    title = "restart regions"
    invariant = "A failure restarts the regions that it hits, whole, and no other."
    clauses: Mapping[str, str] = {
        "unaffected-restarted": "an attempt restarts a region in which nothing failed",
        "region-torn": "an attempt restarts a part of a region",
    }
    evidence: tuple[type[Event], ...] = (AttemptStarted, FailureCounted, TaskStarted)

    def applies(self, history: History) -> bool:
        return profile.FAILOVER in texts(history.plan) and len(history.of(AttemptStarted)) > 1

    def judge(self, history: History) -> Verdict:
        findings = Findings(self.name, self.clauses)
        walk = _Walk(history, findings)
        replay(
            history,
            {
                TaskStarted: walk.task_started,
                NodeDied: walk.died,
                RecordFailed: walk.record_failed,
                StorageFailed: walk.shaken,
                RecoveryFailed: walk.shaken,
                FailureCounted: walk.counted,
                AttemptStarted: walk.attempt_started,
            },
        )
        return findings.verdict(history)


def regions(plan: Plan, layout: Layout) -> tuple[frozenset[str], ...]:
    if texts(plan).get(profile.FAILOVER, "").lower() == "full":
        return (frozenset(layout.subtasks),)
    root = {subtask: subtask for subtask in layout.subtasks}

    def find(subtask: str) -> str:
        while root[subtask] != subtask:
            subtask = root[subtask]
        return subtask

    for channel in (
        *layout.inside,
        *layout.feedback,
        *(each for channels in layout.outputs.values() for each in channels),
    ):
        sender, receiver = channel_ends(channel)
        root[find(sender)] = find(receiver)
    grouped: dict[str, set[str]] = {}
    for subtask in layout.subtasks:
        grouped.setdefault(find(subtask), set()).add(subtask)
    return tuple(map(frozenset, grouped.values()))


class _Walk:
    """Follows failures up to the attempts that answer them.

    Attributes:
        hit: regions in which something failed since they were started, with the last event that shows it.
        hosted: by node, the subtasks that it has started.
        single: the subtasks of each region alone.
        shaken_by: something of the job's own that failed, so everything may restart.
    """

    def __init__(self, history: History, findings: Findings) -> None:
        self.findings = findings
        self.plan = history.plan
        self.layouts = history.derived(Layouts)
        self._begin(layout_of(history))
        self.hosted: dict[str, set[str]] = {}
        self.shaken_by: Event | None = None
        self.coordinator = ""

    def _begin(self, layout: Layout) -> None:
        """A job of this layout is the one that runs."""
        self.layout = layout
        self.regions = regions(self.plan, layout)
        self.hit: set[frozenset[str]] = set(self.regions)
        self.single = {tuple(each for each in layout.subtasks if each in region) for region in self.regions}

    def task_started(self, event: TaskStarted) -> None:
        self.hosted.setdefault(event.node, set()).add(event.subtask)

    def died(self, event: NodeDied) -> None:
        self._hits(self.hosted.get(event.dead_node, set()))

    def record_failed(self, event: RecordFailed) -> None:
        self._hits({event.subtask})

    def shaken(self, event: Event) -> None:
        """The store failed: the coordinator may not know what it holds, or a subtask its state."""
        self.shaken_by = event

    def counted(self, event: FailureCounted) -> None:
        if event.subtask:
            self._hits({event.subtask})
        elif event.subtasks in self.single or event.failed_checkpoint or self.shaken_by is not None or not self.hit:
            # That a worker was given up without having died is known from the coordinator alone.
            self._hits(set(event.subtasks) or set().union(*self.regions))

    def _hits(self, subtasks: set[str]) -> None:
        self.hit.update(region for region in self.regions if region & subtasks)

    def attempt_started(self, event: AttemptStarted) -> None:
        whole = event.node != self.coordinator
        self.coordinator = event.node
        if self.layouts.of(event) is not self.layout:
            self._begin(self.layouts.of(event))
        started = set(event.subtasks) or set().union(*self.regions)
        touched = [region for region in self.regions if region & started]
        if len(self.regions) > 1 and not whole:
            self._judge(event, started, touched)
        self.hit.difference_update(touched)
        self.shaken_by = None

    def _judge(self, event: AttemptStarted, started: set[str], touched: list[frozenset[str]]) -> None:
        self.findings.check("unaffected-restarted")
        self.findings.check("region-torn")
        for region in touched:
            if region not in self.hit:
                message = f"attempt {event.attempt} restarts {', '.join(sorted(region))}, where nothing failed"
                self.findings.violated("unaffected-restarted", message, event)
            missing = region - started
            if missing:
                message = f"attempt {event.attempt} restarts a region without {', '.join(sorted(missing))}"
                self.findings.violated("region-torn", message, event)
