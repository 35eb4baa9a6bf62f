"""Histories for RESUME: a program reports checkpoints, dies, and says which one it restores."""

from __future__ import annotations

from holdfast.harness.model import events
from holdfast.harness.model.history import History
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits, story

bad, near = exhibits("RESUME")
RECORDED = {1: (2, 3), 2: (5, 6)}
PROCESS = "coordinator"


def completed(checkpoint: int) -> events.CheckpointCompleted:
    return events.CheckpointCompleted(checkpoint=checkpoint, positions=RECORDED[checkpoint])


def restored(checkpoint: int) -> events.StateRestored:
    return events.StateRestored(checkpoint=checkpoint)


def ready(*positions: int) -> events.ProgramReady:
    return events.ProgramReady(positions=positions or RECORDED[2])


def started_again(*lines: Line, between: tuple[Line, ...] = ()) -> History:
    """Two checkpoints were reported when the program died."""
    died = events.NodeDied(dead_node=PROCESS, cause="kill")
    return story(ready(0, 0), completed(1), completed(2), died, *between, *lines)


@bad("older-restored")
def the_one_before_the_newest() -> History:
    return started_again(restored(1), ready())


@near("older-restored")
def the_newest() -> History:
    return started_again(restored(2), ready())


@near("older-restored")
def a_newer_one_whose_report_was_lost() -> History:
    return started_again(restored(3), ready(7, 7))


@bad("nothing-restored")
def it_begins_without_a_word() -> History:
    return started_again(ready())


@near("nothing-restored")
def it_dies_before_it_is_ready_and_restores_then() -> History:
    return started_again(events.NodeDied(dead_node=PROCESS, cause="kill"), restored(2), ready())


@near("nothing-restored")
def its_store_was_damaged() -> History:
    """A first life restores, so that there is something to decide."""
    damaged = events.ObjectDamaged(path="table", checkpoint=0, published=(), length=2, left=1)
    died = events.NodeDied(dead_node=PROCESS, cause="kill")
    return started_again(restored(2), ready(), died, damaged, ready(0, 0))


@bad("position-behind")
def ready_before_the_checkpoint() -> History:
    return started_again(restored(2), ready(5, 5))


@near("position-behind")
def ready_behind_the_checkpoint() -> History:
    return started_again(restored(2), ready(5, 8))
