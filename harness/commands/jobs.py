"""`holdfast job`: runs jobs of the reference runtime in the background, and does what Flink's command line does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.job_cluster.client import ClusterClient
from holdfast.harness.engine.job_cluster.folder import given_token
from holdfast.harness.engine.job_cluster.jobs import OVER
from holdfast.harness.engine.site import entry_points
from holdfast.harness.model import profile
from holdfast.harness.model.jobs import ENDLESS_JOBS
from holdfast.harness.model.plan import Plan, Topology, WorkloadSpec

PROGRAM = "keyed-sum"
OPTIONS = {
    profile.INTERVAL: "200 ms",
    profile.STRATEGY: "fixed-delay",
    profile.FIXED_ATTEMPTS: "10",
    profile.FIXED_DELAY: "100 ms",
    profile.INLINE_THRESHOLD: "0",
}
WORKLOAD = {"records": 20_000, "records_per_second": 2_000, "preloaded_percent": 1}
SAVEPOINTS = "savepoints"
"""Where savepoints without a directory go, below the folder of the cluster."""


def run_job(
    folder: Path,
    program: str,
    options: Mapping[str, str],
    *,
    path: str = "",
    allow_left_out: bool = False,
    claim_mode: str = "",
    parallelism: int = 0,
    detached: bool = False,
    root: Path | None = None,
    token_file: Path | None = None,
) -> int:
    """Run a job on the cluster of a folder; start that if there is none.

    Args:
        folder: of the cluster.
        program: one of the jobs of the model; empty: what the cluster runs, or PROGRAM.
        options: Flink's keys; a cluster that runs takes none.
        path: of the savepoint or checkpoint that it goes on from; empty: it starts empty.
        allow_left_out: state without an operator may be left out.
        claim_mode: who owns the savepoint; empty: as the version has it.
        parallelism: 0: that of the last job, or 2.
        detached: do not wait until it has ended.
        root: of a cluster that is started: all paths of later requests must lead below it; None: the folder that holds
            the cluster's.
        token_file: holds the token of the cluster; None: the environment or its folder does.

    Raises:
        UsageError: the job is unknown or has failed, or a cluster runs there and is given another job or options.
    """
    client = _client(folder, token_file)
    place = _pointer(path)
    if client.runs:
        if root is not None:
            raise UsageError(f"{folder}: a cluster runs there, and keeps its root; leave out --root.")
        _require_same(client, program, options)
        body = {
            "savepointPath": place,
            "allowNonRestoredState": allow_left_out,
            "claimMode": claim_mode,
            "parallelism": parallelism,
        }
        job = str(client.ask("POST", "/jobs", body)["jobid"])
    else:
        plan = _plan(folder, program or PROGRAM, options, place, allow_left_out, claim_mode, parallelism)
        client.start(plan, root)
        job = str(client.ask("GET", "/jobs")["jobs"][0]["jid"])
    details = client.wait_for_state(job, "RUNNING", *OVER)
    console = consoles.results()
    if details["state"] == "FAILED":
        raise UsageError(f"job {job} failed: {details['reason']}")
    console.print(f"Job has been submitted with JobID {job}", soft_wrap=True)
    if not detached:
        details = client.wait_for_state(job, *OVER)
        console.print(f"Job {job} is {details['state']}.", soft_wrap=True)
        return 1 if details["state"] == "FAILED" else 0
    return 0


def list_jobs(folder: Path, *, token_file: Path | None = None) -> int:
    for job in _client(folder, token_file).ask("GET", "/jobs")["jobs"]:
        consoles.results().print(f"{job['jid']} : {job['name']} ({job['state']})", soft_wrap=True)
    return 0


def take_savepoint(folder: Path, job: str, target: str, form: str, *, token_file: Path | None = None) -> int:
    """Take a savepoint of a job, and print where it is."""
    client = _client(folder, token_file)
    body = {"target-directory": _directory(target), "formatType": form.upper()}
    trigger = client.ask("POST", f"/jobs/{job}/savepoints", body)["request-id"]
    location = client.wait_for_savepoint(job, trigger)
    consoles.results().print(f"Savepoint completed. Path: {location}", soft_wrap=True)
    return 0


def stop_job(folder: Path, job: str, target: str, form: str, *, drain: bool, token_file: Path | None = None) -> int:
    """Stop a job with a savepoint, and print where that is."""
    client = _client(folder, token_file)
    body = {"targetDirectory": _directory(target), "drain": drain, "formatType": form.upper()}
    trigger = client.ask("POST", f"/jobs/{job}/stop", body)["request-id"]
    location = client.wait_for_savepoint(job, trigger)
    consoles.results().print(f"Savepoint completed. Path: {location}", soft_wrap=True)
    return 0


def cancel_job(folder: Path, job: str, *, token_file: Path | None = None) -> int:
    """Cancel a job, and wait until it has ended."""
    client = _client(folder, token_file)
    client.ask("PATCH", f"/jobs/{job}?mode=cancel")
    client.wait_for_state(job, *OVER)
    consoles.results().print(f"Cancelled job {job}.", soft_wrap=True)
    return 0


def cancel_with_savepoint(folder: Path, job: str, target: str, *, token_file: Path | None = None) -> int:
    """Cancel a job as soon as a savepoint of it is complete, and print where that is."""
    client = _client(folder, token_file)
    body = {"target-directory": _directory(target), "cancel-job": True}
    trigger = client.ask("POST", f"/jobs/{job}/savepoints", body)["request-id"]
    location = client.wait_for_savepoint(job, trigger)
    consoles.results().print(f"Cancelled job {job}. Savepoint stored in {location}.", soft_wrap=True)
    return 0


def end_cluster(folder: Path, *, token_file: Path | None = None) -> int:
    """End the cluster of a folder, with whatever runs."""
    _client(folder, token_file).ask("DELETE", "/cluster")
    return 0


def _client(folder: Path, token_file: Path | None) -> ClusterClient:
    return ClusterClient(folder, given_token(token_file))


def _require_same(client: ClusterClient, program: str, options: Mapping[str, str]) -> None:
    """Refuse another job or other options: a running cluster submits its own job again, with the same options."""
    own = client.ask("GET", "/jobs")["jobs"][0]["name"]
    given = [*([f"program {program!r}"] if program not in ("", own) else []), *(["-D"] if options else [])]
    if given:
        raise UsageError(
            f"{client.folder}: a cluster runs {own!r} there, with the options of its start; leave out "
            f"{' and '.join(given)}, or choose another folder with --folder."
        )


def _plan(
    folder: Path,
    program: str,
    options: Mapping[str, str],
    path: str,
    allow_left_out: bool,
    claim_mode: str,
    parallelism: int,
) -> Plan:
    """The first job of a cluster, and what it is fed."""
    if program not in ENDLESS_JOBS:
        raise entry_points.unknown("program", program, ENDLESS_JOBS)
    recovery = {
        **({profile.RECOVERY_PATH: path} if path else {}),
        **({profile.IGNORE_UNCLAIMED: "true"} if allow_left_out else {}),
        **({profile.CLAIM_MODE: claim_mode} if claim_mode else {}),
    }
    target = {profile.SAVEPOINT_DIRECTORY: str((folder / SAVEPOINTS).absolute())}
    return Plan(
        job=ENDLESS_JOBS[program],
        topology=Topology(parallelism=parallelism or 2),
        options={**OPTIONS, **target, **recovery, **options},
        workload=WorkloadSpec("synthetic", dict(WORKLOAD)),
    )


def _pointer(path: str) -> str:
    """A path as the cluster takes it, whose folder is another one."""
    return str(Path(path.removeprefix("file://")).absolute()) if path and "://" not in path[7:] else path


def _directory(target: str) -> str:
    return _pointer(target)
