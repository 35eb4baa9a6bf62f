"""From a run that failed to its finding: what broke, when, why, and which command repeats it.

What: the worst damage, in the words of the first anomaly that shows it. Why: of the clauses that explain most, the one
that was broken first, in causal order (`oracles.damages`). Wrong reports and missing progress are what broke only where
nothing else did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.harness.engine.plans.words import fault_in_brief, setting_in_words
from holdfast.harness.model.events import CheckpointCompleted, Event, FaultInjected
from holdfast.harness.model.finding import Command, Finding, Violation
from holdfast.harness.model.history import History
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.status import Status
from holdfast.harness.model.units import duration
from holdfast.harness.model.verdict import DAMAGE_RANK, Anomaly, Damage, Verdict
from holdfast.harness.oracles.damages import CONSEQUENCES, damage_of, vagueness
from holdfast.harness.spi.oracle import Oracle, titles_of

_MILLISECOND_NS = 1_000_000


class Needed(NamedTuple):
    """Which faults of its plan a failure needs.

    Attributes:
        words: such as `needs kill of worker 1`; empty: not tried.
        faults: their numbers; empty: it is the same without any. None: not tried.
    """

    words: str = ""
    faults: frozenset[int] | None = None


NOT_TRIED = Needed()


class _Places:
    """Where the events of a history are, by node and sequence."""

    def __init__(self, history: History) -> None:
        self._events = history.events
        self._positions = {(event.node, event.sequence): place for place, event in enumerate(history.events)}
        self._start_ns = min((event.time_ns for event in history.events), default=0)

    def position(self, anomaly: Anomaly) -> int | None:
        """The position of the event that broke the clause, in causal order."""
        at = anomaly.at
        return None if at is None else self._positions.get((at.node, at.sequence))

    def event(self, anomaly: Anomaly) -> Event | None:
        position = self.position(anomaly)
        return None if position is None else self._events[position]

    def at_ms(self, time_ns: int) -> float:
        """Since the start of the run, as the timeline shows it."""
        return (time_ns - self._start_ns) / _MILLISECOND_NS


def finding_of(
    run: str,
    history: History,
    verdicts: Iterable[Verdict],
    oracles: Iterable[Oracle],
    command: Command | None,
    needed: Needed = NOT_TRIED,
) -> Finding | None:
    """The finding of one run; None if no oracle names an anomaly.

    Args:
        run: its id.
        history: what happened.
        verdicts: on it.
        oracles: whose clauses are put into words.
        command: what repeats the run.
        needed: which faults it needs.
    """
    places = _Places(history)
    found = _in_causal_order(verdicts, places)
    if not found:
        return None
    known = {oracle.name: oracle for oracle in oracles}
    violations = _violations(found, known, places)
    cause, event = violations[0], places.event(found[0][1])
    damage, what = _what(found)
    return Finding(
        status=Status.FAIL,
        what=what,
        when=_when(history, event, places, needed),
        why=_why(cause, what, history.end.job_error),
        next=command,
        damage=damage,
        run=run,
        at_ms=cause.at_ms,
        cause=cause,
        consequences=violations[1:],
        setting=setting_in_words(history.plan),
        needs=tuple(dict.fromkeys(fault_in_brief(history.plan.faults[each]) for each in sorted(needed.faults or ()))),
    )


def first_anomaly(history: History, verdicts: Iterable[Verdict]) -> tuple[str, Anomaly] | None:
    """The anomaly that the finding of a run calls its cause, with its oracle; None if no oracle names one."""
    found = _in_causal_order(verdicts, _Places(history))
    return found[0] if found else None


def _in_causal_order(verdicts: Iterable[Verdict], places: _Places) -> list[tuple[str, Anomaly]]:
    """All anomalies with their oracles."""
    found = ((verdict.oracle, anomaly) for verdict in verdicts for anomaly in verdict.anomalies)
    return sorted(found, key=lambda each: _order(each[0], each[1], places))


def _order(oracle: str, anomaly: Anomaly, places: _Places) -> tuple[int, bool, int]:
    """What explains most comes first, and then what was broken first; what no event shows comes behind the others."""
    position = places.position(anomaly)
    return vagueness(oracle, anomaly), position is None, position or 0


def _violations(
    found: list[tuple[str, Anomaly]], known: Mapping[str, Oracle], places: _Places
) -> tuple[Violation, ...]:
    """One for each clause, where its first anomaly is."""
    titles = titles_of(known.values())
    grouped: dict[tuple[str, str], list[Anomaly]] = {}
    for oracle, anomaly in found:
        grouped.setdefault((oracle, anomaly.clause), []).append(anomaly)
    return tuple(
        Violation(
            oracle=oracle,
            clause=clause,
            meaning=known[oracle].clauses.get(clause, "") if oracle in known else "",
            message=anomalies[0].message,
            witness=anomalies[0].witness,
            at_ms=None if (at := anomalies[0].at) is None else places.at_ms(at.time_ns),
            times=len(anomalies),
            more=tuple(dict.fromkeys(each.message for each in anomalies[1:])),
            damage=damage_of(oracle, anomalies[0]),
            title=titles.get(oracle, ""),
        )
        for (oracle, clause), anomalies in grouped.items()
    )


def _what(found: list[tuple[str, Anomaly]]) -> tuple[Damage, str]:
    """The worst damage in words; but what a claim does not keep is reported as the claim that it is."""
    damages = [damage_of(oracle, anomaly) for oracle, anomaly in found]
    causes = [damage for damage in damages if damage not in CONSEQUENCES] or damages
    worst = Damage.OVERCLAIM if damages[0] is Damage.OVERCLAIM else min(causes, key=DAMAGE_RANK.__getitem__)
    messages = dict.fromkeys(
        anomaly.message for (_, anomaly), damage in zip(found, damages, strict=True) if damage is worst
    )
    first, *others = messages
    more = f" ({len(others)} more like it)" if others else ""
    words = worst.value
    # Some messages begin with the same words.
    sentence = first if first.lower().startswith(words) else f"{words}: {first}"
    return worst, f"{sentence[:1].upper()}{sentence[1:]}{more}"


def _why(cause: Violation, what: str, job_error: str) -> str:
    """The first violated clause; its message only where the first line does not hold it already. Then the first error
    of the job, which may have caused it."""
    words = f"{cause.label}: {cause.meaning or cause.message}"
    if cause.meaning and cause.message not in what:
        words += f". Here: {cause.message}"
    return f"{words}. The job's error: {job_error}" if job_error else words


def _when(history: History, event: Event | None, places: _Places, needed: Needed) -> str:
    """How long after which fault that it needs, at which checkpoint, at what time of the run."""
    faults = [each for each in history.of(FaultInjected) if needed.faults is None or each.fault in needed.faults]
    ending = f"; {needed.words}" if needed.words else ""
    if event is None:
        behind = f", after {plural(len(faults), 'fault')}, the last one {_fault(history, faults[-1])}" if faults else ""
        return f"seen when the run was over{behind}{ending}"
    position = history.position(event)
    into = duration(places.at_ms(event.time_ns))
    parts = [f"{into} into the run"]
    before = [each for each in faults if history.position(each) < position]
    if before:
        since = duration((event.time_ns - before[-1].time_ns) / _MILLISECOND_NS)
        fault = f"faults[{before[-1].fault}] ({_fault(history, before[-1])})"
        parts.append(f"which began with {fault}" if since == into else f"{since} after {fault}")
    elif not history.plan.faults:
        parts.append("in a run without faults")
    elif needed.faults is None or needed.faults:
        parts.append("before any fault" if needed.faults is None else "before any fault that it needs")
    parts.append(_checkpoint(history, event, position))
    return ", ".join(parts) + ending


def _fault(history: History, injected: FaultInjected) -> str:
    return fault_in_brief(history.plan.faults[injected.fault])


def _checkpoint(history: History, event: Event, position: int) -> str:
    """The checkpoint that the event is about, or the last one that was complete by then."""
    if checkpoint := getattr(event, "checkpoint", 0):
        return f"at checkpoint {checkpoint}"
    completed = [each for each in history.of(CheckpointCompleted) if history.position(each) < position]
    return f"after checkpoint {completed[-1].checkpoint}" if completed else "before the first complete checkpoint"
