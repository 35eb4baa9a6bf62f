"""Histories for REGION: two chains, each on a worker of its own."""

from __future__ import annotations

from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.selfcheck.oracles.builder import Line, exhibits
from holdfast.suites.selfcheck.oracles.lines import attempt, died, failure, tasks

FAILOVER = "jobmanager.execution.failover-strategy"
CHAINS = tuple(tuple(f"{vertex}[{index}]" for vertex in ("source", "map", "sink")) for index in (0, 1))


DIES: list[Line] = [died("worker-0", "killed"), failure("worker 0 was lost")]
"""Worker 0, which hosts the first chain."""


bad, near = exhibits(
    "REGION", attempt(), tasks(*CHAINS[0], *CHAINS[1]),
    job=FORWARD, options={FAILOVER: "region", "execution.checkpointing.interval": "100 ms"},
)  # fmt: skip

bad(
    "unaffected-restarted", "the other chain restarts",
    failure("it fails", CHAINS[0][0], *CHAINS[0]), attempt(None, *CHAINS[1]),
)  # fmt: skip
bad(
    "unaffected-restarted", "both chains restart with one source",
    failure("it fails", CHAINS[0][0], *CHAINS[0]), attempt(),
)  # fmt: skip
bad("unaffected-restarted", "both chains restart with one worker", *DIES, attempt())
bad(
    "unaffected-restarted", "the other chain restarts later",
    failure("it fails", CHAINS[0][0], *CHAINS[0]), attempt(None, *CHAINS[0]),
    failure("it fails", CHAINS[0][0], *CHAINS[0]), attempt(),
)  # fmt: skip
near(
    "unaffected-restarted", "the failed chain restarts",
    failure("it fails", CHAINS[0][0], *CHAINS[0]), attempt(None, *CHAINS[0]),
)  # fmt: skip
near("unaffected-restarted", "the chain of the dead worker restarts", *DIES, attempt(None, *CHAINS[0]))
near(
    "unaffected-restarted", "both chains fail one after the other",
    failure("it fails", CHAINS[0][0], *CHAINS[0]), failure("it fails", CHAINS[1][0], *CHAINS[1]),
    attempt(None, *CHAINS[1]), attempt(None, *CHAINS[0]),
)  # fmt: skip
near(
    "unaffected-restarted", "a worker is given up that lives",
    failure("no heartbeat", "", *CHAINS[1]), attempt(None, *CHAINS[1]),
)  # fmt: skip
near(
    "unaffected-restarted", "a checkpoint too many fails the whole job",
    died("worker-0", "killed"), failure("more failed checkpoints than tolerable", failed_checkpoint=3), attempt(),
)  # fmt: skip
near(
    "unaffected-restarted", "a new coordinator knows of nothing that runs",
    died("coordinator", "killed"), attempt(), failure("it fails", CHAINS[1][0], *CHAINS[1]), attempt(None, *CHAINS[1]),
)  # fmt: skip

bad(
    "region-torn", "a chain restarts without its sink",
    failure("it fails", CHAINS[0][0], *CHAINS[0]), attempt(None, *CHAINS[0][:2]),
)  # fmt: skip
near("region-torn", "a chain restarts whole", failure("it fails", CHAINS[1][0], *CHAINS[1]), attempt(None, *CHAINS[1]))
