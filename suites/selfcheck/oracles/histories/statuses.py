"""Histories for COUNT: what a coordinator reports of its job."""

from __future__ import annotations

from holdfast.harness.model.events import JobStatus
from holdfast.harness.model.plan import ExpectedEnd
from holdfast.suites.selfcheck.oracles.builder import at, exhibits, injected, on
from holdfast.suites.selfcheck.oracles.histories.count import FIXED, restarts
from holdfast.suites.selfcheck.oracles.lines import attempt, died, submitted, switched

RUNNING, RESTARTING, FINISHED = JobStatus.RUNNING, JobStatus.RESTARTING, JobStatus.FINISHED


bad, near = exhibits("COUNT", attempt(), injected("kill", "worker[0]"), expected=ExpectedEnd.FAILED, options=FIXED)

bad("ended-again", "finished twice", switched(RUNNING, FINISHED, FINISHED))
bad("ended-again", "runs on after its end", switched(RUNNING, JobStatus.CANCELED, RUNNING))
bad("ended-again", "runs on though suspended", switched(RUNNING, JobStatus.SUSPENDED, RUNNING))
bad("ended-again", "starts again behind its end", switched(RUNNING, JobStatus.CANCELED), attempt(), switched(RUNNING))
near(
    "ended-again", "leads again and begins another attempt",
    switched(RUNNING, JobStatus.SUSPENDED), attempt(), switched(RUNNING, FINISHED),
)  # fmt: skip
near("ended-again", "ends once", switched(RUNNING, JobStatus.CANCELLING, JobStatus.CANCELED))
near(
    "ended-again", "the next coordinator reports the end as well",
    switched(RUNNING, FINISHED), died(), switched(FINISHED),
)  # fmt: skip
near(
    "ended-again", "the next job ends too",
    at("coordinator.0", submitted(), 0), switched(RUNNING, FINISHED), at("coordinator.0", submitted(), 10),
    at("coordinator.0", attempt(), 11), on("coordinator.0", switched(RUNNING), attempt=11),
    on("coordinator.0", switched(FINISHED), attempt=11),
)  # fmt: skip

bad("restart-unannounced", "runs again and never restarted", switched(RUNNING), restarts(), switched(RUNNING))
bad(
    "restart-unannounced", "only the first restart is reported",
    switched(RUNNING, RESTARTING), restarts(), switched(RUNNING), restarts(),
)  # fmt: skip
near(
    "restart-unannounced", "each restart is reported",
    switched(RUNNING, RESTARTING), restarts(), switched(RUNNING, RESTARTING), restarts(),
)  # fmt: skip
