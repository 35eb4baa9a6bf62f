"""The job unfolded: subtasks, the channels between them and the chains that they form, as they follow from a plan."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache

from msgspec.structs import replace

from holdfast.harness.model.events import AttemptStarted, Event, FailureCounted, JobSubmitted
from holdfast.harness.model.history import History
from holdfast.harness.model.job import STATEFUL, Job, Partitioning, VertexKind
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.submitted_jobs import most_workers, programs, topologies, widths
from holdfast.harness.oracles.ledger.submissions import Submissions
from holdfast.harness.oracles.shared.options import chained


class Rescales:
    """The parallelism of each attempt, as far as the attempts say it; whether it is the required one, RESCALE decides.

    Args:
        history: of the run.
    """

    def __init__(self, history: History) -> None:
        known = {event.attempt + 1: 0 for event in history.of(JobSubmitted)}
        known |= {event.attempt: event.parallelism for event in history.of(AttemptStarted)}
        self._attempts = sorted(known)
        self._widths = [known[attempt] for attempt in self._attempts]

    def at(self, attempt: int, submitted: int) -> int:
        """The parallelism of an attempt of a job.

        Args:
            attempt: its number.
            submitted: the parallelism that the job was submitted with.
        """
        place = bisect_right(self._attempts, attempt)
        return (self._widths[place - 1] if place else 0) or submitted


_ADDING = (VertexKind.KEYED_SUM, VertexKind.DELAYED_SUM)
_PASSING = (VertexKind.MAP, VertexKind.MINI_BATCH, VertexKind.UNION)


class Layout:
    """Subtask `vertex[i]`, channel `vertex[i]->vertex[j]`.

    Attributes:
        subtasks: all of them, upstream first.
        sources, sums, sinks: those of sources, of keyed operators, of sinks.
        buffers: those of operators that hold records back, and keep them as they are.
        inputs, outputs: channels by subtask; every subtask has an entry. Those of feedback edges are left out:
            nothing is aligned by them.
        feedback: channels of feedback edges.
        pointwise: channels on which no barrier overtakes, because not every receiver is fed by every sender alike.
        feeding: channels on the way from a source to keyed state.
        added: those of them on which a record will be added to a keyed sum as it is, once.
        chains: tuples of subtasks between which there are calls and no channels, upstream first; only where there is
            more than one.
        upstream: by subtask, those in front of it, through a channel or in its chain.
        inside: the channels that there would be between these.
    """

    __slots__ = (
        "added", "buffers", "chains", "feedback", "feeding", "inputs", "inside", "outputs", "pointwise", "sinks",
        "sources", "subtasks", "sums", "upstream",
    )  # fmt: skip

    def __init__(self, job: Job, topology: Topology, *, chaining: bool) -> None:
        width = range(topology.parallelism)
        self.subtasks = tuple(f"{vertex.name}[{i}]" for vertex in job.vertices for i in width)
        self.sources, self.buffers, self.sums, self.sinks = (
            tuple(f"{vertex.name}[{i}]" for vertex in job.of_kind(*kinds) for i in width)
            for kinds in ((VertexKind.SOURCE,), (VertexKind.MINI_BATCH,), STATEFUL, (VertexKind.SINK,))
        )
        self.inputs: dict[str, list[str]] = {subtask: [] for subtask in self.subtasks}
        self.outputs: dict[str, list[str]] = {subtask: [] for subtask in self.subtasks}
        self.upstream: dict[str, set[str]] = {subtask: set() for subtask in self.subtasks}
        members = {subtask: [subtask] for subtask in self.subtasks}
        self.inside: set[str] = set()
        pointwise: set[str] = set()
        feeding: set[str] = set()
        added: set[str] = set()
        self.feedback: list[str] = []
        upstream = _upstream_of_state(job)
        for edge in job.edges:
            forward = edge.partitioning is Partitioning.FORWARD
            chained = chaining and forward and len(job.inputs_of(edge.downstream)) == 1
            for i in width:
                for j in (i,) if forward else width:
                    sender, receiver = f"{edge.upstream}[{i}]", f"{edge.downstream}[{j}]"
                    if edge.feedback:
                        self.feedback.append(f"{sender}->{receiver}")
                        continue
                    self.upstream[receiver].add(sender)
                    if chained:
                        self.inside.add(f"{sender}->{receiver}")
                        members[sender] += members[receiver]
                        members.update(dict.fromkeys(members[receiver], members[sender]))
                        continue
                    self.outputs[sender].append(f"{sender}->{receiver}")
                    self.inputs[receiver].append(f"{sender}->{receiver}")
                    if edge.partitioning not in (Partitioning.HASH, Partitioning.REBALANCE):
                        pointwise.add(f"{sender}->{receiver}")
                    if edge.downstream in upstream:
                        feeding.add(f"{sender}->{receiver}")
                    if upstream.get(edge.downstream):
                        added.add(f"{sender}->{receiver}")
        self.pointwise, self.feeding, self.added = frozenset(pointwise), frozenset(feeding), frozenset(added)
        place = {subtask: place for place, subtask in enumerate(self.subtasks)}
        chains = {id(chain): tuple(sorted(chain, key=place.__getitem__)) for chain in members.values()}
        self.chains = tuple(chain for chain in chains.values() if len(chain) > 1)


def _upstream_of_state(job: Job) -> dict[str, bool]:
    """Keyed operators and everything above them, by name: whether a record that comes there will be added to a sum as
    it is, once."""
    found = {vertex.name: vertex.kind in _ADDING for vertex in job.of_kind(*STATEFUL)}
    for vertex in reversed(job.vertices):
        leaving = [edge.downstream for edge in job.edges if edge.upstream == vertex.name]
        below = [found[name] for name in leaving if name in found]
        if below and vertex.name not in found:
            found[vertex.name] = vertex.kind in _PASSING and below == [True]
    return found


@lru_cache(maxsize=64)
def _layout(job: Job, topology: Topology, *, chaining: bool) -> Layout:
    return Layout(job, topology, chaining=chaining)


def layout_of(history: History) -> Layout:
    """The layout of the first job of a run; never modified, so that it can be shared."""
    return history.derived(_first)


def widest_layout(history: History) -> Layout:
    """That of the jobs of a run at the highest parallelism that any of them has: it has the names of all of them."""
    return history.derived(_widest)


def _first(history: History) -> Layout:
    plan = history.plan
    return _layout(plan.job, plan.topology, chaining=chained(plan))


def _widest(history: History) -> Layout:
    plan = history.plan
    return _layout(plan.job, replace(plan.topology, parallelism=most_workers(plan)), chaining=chained(plan))


class Layouts:
    """The layout that an event is one of: a job that is submitted later can be edited, or of another parallelism, and a
    job that runs can be rescaled.

    Args:
        history: of the run.
    """

    def __init__(self, history: History) -> None:
        plan = history.plan
        jobs = tuple(zip(programs(plan), topologies(plan), strict=True))
        self._plan, self._jobs = plan, jobs
        self._all = [_layout(job, topology, chaining=chained(plan)) for job, topology in jobs]
        self._submissions = history.derived(Submissions) if len(set(jobs)) > 1 else None
        self._rescaled = history.derived(Rescales) if widths(plan) else None

    def of(self, event: Event) -> Layout:
        return self.at(event.attempt)

    def at(self, attempt: int) -> Layout:
        """The layout of the job of an attempt."""
        place = 0
        if self._submissions is not None:
            place = min(max(self._submissions.at(attempt), 1), len(self._all)) - 1
        if self._rescaled is None:
            return self._all[place]
        job, topology = self._jobs[place]
        topology = replace(topology, parallelism=self._rescaled.at(attempt, topology.parallelism))
        return _layout(job, topology, chaining=chained(self._plan))


def members(history: History, event: AttemptStarted | FailureCounted) -> tuple[str, ...]:
    """The subtasks that an attempt is one of, or that go down with a failure."""
    return event.subtasks or history.derived(Layouts).of(event).subtasks


def newest_attempts(history: History, attempts: Iterable[AttemptStarted]) -> dict[str, int]:
    """By subtask, the last of these attempts that it is in."""
    newest: dict[str, int] = {}
    for attempt in attempts:
        newest.update(dict.fromkeys(members(history, attempt), attempt.attempt))
    return newest
