"""Jobs of the reference runtime, in the background: job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.harness.cli.options import (
    pairs,
)

JobFolder = Annotated[Path, typer.Option("--folder", metavar="DIR", help="Folder of the cluster.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Holds the token of the cluster; else HOLDFAST_TOKEN, else a file of its folder does."
    ),
]
JobId = Annotated[str, typer.Argument(metavar="JOB_ID", help="As `holdfast job list` prints it.")]
SavepointType = Annotated[str, typer.Option("--type", metavar="TYPE", help="canonical or native.")]
JOBS = Path("holdfast-jobs")


def job_run(
    program: Annotated[str, typer.Argument(metavar="[PROGRAM]", help="Name of a job, such as keyed-sum.")] = "",
    savepoint_path: Annotated[
        str, typer.Option("-s", "--fromSavepoint", metavar="PATH", help="Go on from a savepoint or checkpoint.")
    ] = "",
    allow_non_restored_state: Annotated[
        bool, typer.Option("-n", "--allowNonRestoredState", help="Leave state out that no operator has the name of.")
    ] = False,
    claim_mode: Annotated[
        str, typer.Option("-rm", "--claimMode", metavar="MODE", help="CLAIM, NO_CLAIM or LEGACY.")
    ] = "",
    parallelism: Annotated[int, typer.Option("-p", "--parallelism", help="Subtasks of each operator.")] = 0,
    detached: Annotated[bool, typer.Option("-d", "--detached", help="Do not wait until the job has ended.")] = False,
    options: Annotated[list[str] | None, typer.Option("-D", metavar="KEY=VALUE", help="An option of Flink's.")] = None,
    root: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Of a new cluster: savepoints lie below it; else beside its folder."),
    ] = None,
    folder: JobFolder = JOBS,
    token_file: TokenFile = None,
) -> int:
    """Run a job."""
    from holdfast.harness.commands.jobs import run_job

    return run_job(
        folder,
        program,
        pairs("-D", options),
        path=savepoint_path,
        allow_left_out=allow_non_restored_state,
        claim_mode=claim_mode,
        parallelism=parallelism,
        detached=detached,
        root=root,
        token_file=token_file,
    )


def job_list(folder: JobFolder = JOBS, token_file: TokenFile = None) -> int:
    """Print the jobs of the cluster."""
    from holdfast.harness.commands.jobs import list_jobs

    return list_jobs(folder, token_file=token_file)


def job_savepoint(
    job: JobId,
    target: Annotated[str, typer.Argument(metavar="[TARGET_DIRECTORY]", help="As configured if not given.")] = "",
    form: SavepointType = "canonical",
    folder: JobFolder = JOBS,
    token_file: TokenFile = None,
) -> int:
    """Take a savepoint of a running job."""
    from holdfast.harness.commands.jobs import take_savepoint

    return take_savepoint(folder, job, target, form, token_file=token_file)


def job_stop(
    job: JobId,
    savepoint_path: Annotated[
        str, typer.Option("-p", "--savepointPath", metavar="DIR", help="Where its savepoint goes.")
    ] = "",
    drain: Annotated[bool, typer.Option("-d", "--drain", help="Emit everything that is held back first.")] = False,
    form: SavepointType = "canonical",
    folder: JobFolder = JOBS,
    token_file: TokenFile = None,
) -> int:
    """Stop a job with a savepoint."""
    from holdfast.harness.commands.jobs import stop_job

    return stop_job(folder, job, savepoint_path, form, drain=drain, token_file=token_file)


def job_cancel(
    job: JobId,
    with_savepoint: Annotated[
        str, typer.Option("-s", "--withSavepoint", metavar="DIR", help="With a savepoint in DIR; in flink-1.14 alone.")
    ] = "",
    folder: JobFolder = JOBS,
    token_file: TokenFile = None,
) -> int:
    """Cancel a job."""
    from holdfast.harness.commands.jobs import cancel_job, cancel_with_savepoint

    if with_savepoint:
        return cancel_with_savepoint(folder, job, with_savepoint, token_file=token_file)
    return cancel_job(folder, job, token_file=token_file)


def job_end_cluster(folder: JobFolder = JOBS, token_file: TokenFile = None) -> int:
    """End the cluster, with whatever runs."""
    from holdfast.harness.commands.jobs import end_cluster

    return end_cluster(folder, token_file=token_file)
