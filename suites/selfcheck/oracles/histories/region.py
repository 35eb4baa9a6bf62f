"""Histories for REGION: two chains, each on a worker of its own."""

from __future__ import annotations

from holdfast.harness.model.events import AttemptStarted, FailureCounted, NodeDied, TaskStarted
from holdfast.harness.model.history import History
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.builder import story as any_story

bad, near = exhibits("REGION")

FAILOVER = "jobmanager.execution.failover-strategy"
CHAINS = tuple(tuple(f"{vertex}[{index}]" for vertex in ("source", "map", "sink")) for index in (0, 1))


def story(*lines: Line, failover: str = "region") -> History:
    starts = [TaskStarted(subtask=subtask) for chain in CHAINS for subtask in chain]
    options = {FAILOVER: failover, "execution.checkpointing.interval": "100 ms"}
    return any_story(AttemptStarted(), starts, *lines, job=FORWARD, options=options)


def fails(chain: int) -> FailureCounted:
    """The source of a chain fails."""
    return FailureCounted(cause="it fails", subtask=CHAINS[chain][0], subtasks=CHAINS[chain])


def dies() -> list[Line]:
    """Worker 0, which hosts the first chain."""
    return [NodeDied(dead_node="worker-0", cause="killed"), FailureCounted(cause="worker 0 was lost")]


@bad("unaffected-restarted")
def the_other_chain_restarts() -> History:
    return story(fails(0), AttemptStarted(subtasks=CHAINS[1]))


@bad("unaffected-restarted")
def both_chains_restart_with_one_source() -> History:
    return story(fails(0), AttemptStarted())


@bad("unaffected-restarted")
def both_chains_restart_with_one_worker() -> History:
    return story(*dies(), AttemptStarted())


@bad("unaffected-restarted")
def the_other_chain_restarts_later() -> History:
    return story(fails(0), AttemptStarted(subtasks=CHAINS[0]), fails(0), AttemptStarted())


@near("unaffected-restarted")
def the_failed_chain_restarts() -> History:
    return story(fails(0), AttemptStarted(subtasks=CHAINS[0]))


@near("unaffected-restarted")
def the_chain_of_the_dead_worker_restarts() -> History:
    return story(*dies(), AttemptStarted(subtasks=CHAINS[0]))


@near("unaffected-restarted")
def both_chains_fail_one_after_the_other() -> History:
    return story(fails(0), fails(1), AttemptStarted(subtasks=CHAINS[1]), AttemptStarted(subtasks=CHAINS[0]))


@near("unaffected-restarted")
def a_worker_is_given_up_that_lives() -> History:
    return story(FailureCounted(cause="no heartbeat", subtasks=CHAINS[1]), AttemptStarted(subtasks=CHAINS[1]))


@near("unaffected-restarted")
def a_checkpoint_too_many_fails_the_whole_job() -> History:
    failed = FailureCounted(cause="more failed checkpoints than tolerable", failed_checkpoint=3)
    return story(NodeDied(dead_node="worker-0", cause="killed"), failed, AttemptStarted())


@near("unaffected-restarted")
def a_new_coordinator_knows_of_nothing_that_runs() -> History:
    died = NodeDied(dead_node="coordinator", cause="killed")
    return story(died, AttemptStarted(), fails(1), AttemptStarted(subtasks=CHAINS[1]))


@bad("region-torn")
def a_chain_restarts_without_its_sink() -> History:
    return story(fails(0), AttemptStarted(subtasks=CHAINS[0][:2]))


@near("region-torn")
def a_chain_restarts_whole() -> History:
    return story(fails(1), AttemptStarted(subtasks=CHAINS[1]))
