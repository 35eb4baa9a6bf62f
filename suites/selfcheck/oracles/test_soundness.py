"""No oracle objects to what is legal, wherever it is cut off and however the nodes are interleaved, and none raises."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
import numpy as np
import pytest

from holdfast.harness.model.events import (
    CheckpointStatistics,
    Event,
    KeysLookedUp,
    ObjectDamaged,
    RowsVisible,
    StorageSlowed,
    SubtaskStatistics,
)
from holdfast.harness.model.history import History, RunEnd, causal_order
from holdfast.harness.model.records import Output
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.oracles import ORACLES
from holdfast.harness.spi.oracle import Oracle, titles_of
from holdfast.suites.selfcheck.oracles.builder import BY_NAME, EXHIBITS, MS
from holdfast.suites.selfcheck.oracles.legal import legal_run

LONGEST_TITLE = 24
"""So that verdicts stand in columns."""


def failures(history: History) -> list[str]:
    """Anomalies of all oracles, in words."""
    verdicts = [oracle.judge(history) for oracle in ORACLES if oracle.applies(history)]
    return [f"{verdict.oracle} {anomaly.clause}: {anomaly}" for verdict in verdicts for anomaly in verdict.anomalies]


def with_events(history: History, events: list[Event]) -> History:
    return History(history.plan, history.claims, history.inputs, history.output, events, history.end)


def test_the_oracles_are_oracles() -> None:
    oracles: tuple[Oracle, ...] = ORACLES
    assert len({oracle.name for oracle in oracles}) == len(oracles)
    for oracle in oracles:
        assert oracle.invariant.endswith("."), oracle.name
        assert all(sentence and not sentence.endswith(".") for sentence in oracle.clauses.values()), oracle.name


def test_every_oracle_has_a_title_of_its_own() -> None:
    titles = titles_of(ORACLES)
    assert len(set(titles.values())) == len(ORACLES)
    for name, title in titles.items():
        assert re.fullmatch(r"[a-z-]+( [a-z]+){1,3}", title), name
        assert len(title) <= LONGEST_TITLE, name
        assert name.lower() != title


def test_an_oracle_without_a_title_has_none() -> None:
    class Plain:
        name = "PLAIN"
        invariant = "Something holds."
        clauses: Mapping[str, str] = {}
        evidence: tuple[type[Event], ...] = ()

        def applies(self, history: History) -> bool:
            return False

        def judge(self, history: History) -> Verdict:
            return Verdict(self.name, Outcome.INCONCLUSIVE)

    assert titles_of([Plain(), *ORACLES[:1]]) == {"CUT": "consistent cut"}


@pytest.mark.parametrize("dies_after", [0, 1, 2, 9])
@pytest.mark.parametrize("batch", [2, 6])
def test_a_legal_run_passes_and_exercises_every_oracle(dies_after: int, batch: int) -> None:
    history = legal_run(checkpoints=4, dies_after=dies_after, batch=batch)
    assert not failures(history)
    undecided = {oracle.name for oracle in ORACLES if oracle.judge(history).outcome is not Outcome.PASS}
    assert not undecided & {"CUT", "COORD", "REACH", "RESTORE", "TXN", "LOUD", "LIVE", "EXACT", "NOLOSS"}


def cut_off(history: History, length: int) -> History:
    """The history as it was after so many events."""
    events = history.events[:length]
    visible = {event.name for event in events if isinstance(event, RowsVisible)}
    output = Output(tuple(unit for unit in history.output.units if unit.name in visible))
    end = RunEnd(reached=False, problem="cut short")
    return History(history.plan, history.claims, history.inputs, output, events, end)


def test_a_legal_run_may_be_cut_off_anywhere() -> None:
    history = legal_run()
    for length in range(len(history.events)):
        assert not failures(cut_off(history, length)), length


def interleaved(history: History, seed: int) -> History:
    """Every process gets a clock of its own: what is left of the order are lives, sequences and message edges. The
    harness damages objects and slows the storage on its own machine, so it and the coordinator have one clock there."""
    random = np.random.default_rng(seed)
    nodes: dict[str, list[Event]] = {}
    one_clock = bool(history.of(ObjectDamaged) or history.of(StorageSlowed))
    skews: dict[str, int] = dict.fromkeys(("harness", "coordinator"), 0) if one_clock else {}
    for event in history.events:
        skew = skews.setdefault(event.node.partition(".")[0], int(random.integers(0, 40)) * MS)
        nodes.setdefault(event.node, []).append(msgspec.structs.replace(event, time_ns=event.time_ns + skew))
    return with_events(history, [read_on(skews, event) for event in causal_order(nodes.values())])


def read_on(skews: dict[str, int], event: Event) -> Event:
    """What was read on these clocks, which two of a report's figures depend on."""
    ahead_ms = skews.get("coordinator", 0) / MS
    if isinstance(event, CheckpointStatistics):
        return msgspec.structs.replace(event, triggered_ms=event.triggered_ms + ahead_ms)
    if isinstance(event, KeysLookedUp):
        skew_ms = skews.get(event.node.partition(".")[0], 0) // MS
        return msgspec.structs.replace(event, now_ms=event.now_ms + skew_ms)
    if isinstance(event, SubtaskStatistics):
        worker = f"worker-{event.subtask.partition('[')[2].partition(']')[0]}"
        delay_ms = max(0.0, event.start_delay_ms + skews.get(worker, 0) / MS - ahead_ms)
        return msgspec.structs.replace(event, start_delay_ms=delay_ms)
    return event


@pytest.mark.parametrize("seed", range(20))
def test_a_legal_run_may_be_interleaved_otherwise(seed: int) -> None:
    assert not failures(interleaved(legal_run(), seed))


@pytest.mark.parametrize("oracle", BY_NAME)
def test_a_near_miss_may_be_interleaved_otherwise(oracle: str) -> None:
    near_misses = {name: each for name, each in EXHIBITS.items() if each.oracle == oracle and not each.bad}
    assert near_misses
    assert not {
        (name, seed): anomalies
        for name, exhibit in near_misses.items()
        for seed in range(10)
        if (anomalies := BY_NAME[oracle].judge(interleaved(exhibit.history(), seed)).anomalies)
    }


@pytest.mark.parametrize("oracle", BY_NAME)
def test_no_oracle_raises_on_the_history_of_another(oracle: str) -> None:
    raised = []
    for name, exhibit in EXHIBITS.items():
        if exhibit.oracle == oracle:
            try:
                failures(exhibit.history())
            except Exception as error:
                error.add_note(f"on the history {name}")
                raised.append(error)
    if raised:
        raise ExceptionGroup(f"histories of {oracle}", raised)


@pytest.mark.parametrize("seed", range(20))
def test_no_oracle_raises_on_a_history_with_holes(seed: int) -> None:
    random = np.random.default_rng(seed)
    history = legal_run()
    kinds = sorted({type(event) for event in history.events}, key=lambda kind: kind.__name__)
    missing = set(random.choice(len(kinds), size=seed % 10))
    events = [
        event for event in history.events if kinds.index(type(event)) not in missing and random.random() < 0.95
    ]  # fmt: skip
    failures(with_events(history, events))
    random.shuffle(events)
    failures(with_events(history, events))


def test_an_oracle_observes_clauses_of_its_own() -> None:
    for oracle in ORACLES:
        assert getattr(oracle, "observed", frozenset()) <= set(oracle.clauses), oracle.name
