"""Single runs: run, compare, replay, rerun, judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.harness.cli.options import (
    OUTPUT,
    Env,
    FaultsOn,
    Images,
    KafkaBootstrap,
    Out,
    PartLimit,
    S3Endpoint,
    SparkMaster,
    StoredRun,
    Trust,
    pass_on,
    seconds,
    settle,
    stored_run,
)
from holdfast.harness.model.case import Tier


def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json", help="A plan.")],
    system: Annotated[str, typer.Option(help="Instead of the one that the plan names.")] = "",
    tier: Annotated[Tier | None, typer.Option(help="Where; the first that can run, if not given.")] = None,
    trust: Trust = False,
    out: Out = OUTPUT,
    kafka_bootstrap: KafkaBootstrap = "",
    s3_endpoint: S3Endpoint = "",
    spark_master: SparkMaster = "",
    image: Images = None,
    allow_faults_on: FaultsOn = None,
    env: Env = None,
    part_limit: PartLimit = "",
) -> int:
    """Run a plan from a file, judge the run and keep it.

    A system that only the file names must be registered, or needs --trust; one of --system needs neither. Other code
    that the plan names, such as a state backend, must be registered or ship with Holdfast, or needs --trust.
    """
    from holdfast.harness.commands.plans import run_file
    from holdfast.harness.commands.reports import free_folder

    settle(kafka_bootstrap, s3_endpoint, spark_master, image, allow_faults_on)
    pass_on(env)
    limit_s = seconds("--part-limit", part_limit)
    return run_file(plan, system, tier, free_folder(out), trust=trust, limit_s=limit_s)


def compare(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="SYSTEM...",
            help="Registered, or module:name; SYSTEM=FILE.yaml: its options go before a plan's.",
        ),
    ],
    plans: Annotated[list[Path], typer.Option(metavar="PATH", help="A plan, or a folder of plans; repeatable.")],
    tier: Annotated[
        Tier | None, typer.Option(help="Where all of them run; else as processes, or where a system can.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Of each plan on each system.")] = 1,
    trust: Trust = False,
    out: Out = OUTPUT,
    kafka_bootstrap: KafkaBootstrap = "",
    s3_endpoint: S3Endpoint = "",
    spark_master: SparkMaster = "",
    image: Images = None,
    allow_faults_on: FaultsOn = None,
) -> int:
    """Run the same plans on several systems, and show verdicts and recovery times side by side."""
    from holdfast.harness.commands.compare import compare as compare_systems
    from holdfast.harness.commands.reports import free_folder

    settle(kafka_bootstrap, s3_endpoint, spark_master, image, allow_faults_on)
    return compare_systems(systems, plans, tier, runs, free_folder(out), trust=trust)


def replay(stored: StoredRun, trust: Trust = False, part_limit: PartLimit = "") -> int:
    """Repeat a run of the simulator, and check that every event is the same."""
    from holdfast.harness.commands.plans import replay as replay_run

    return replay_run(stored, trust=trust, limit_s=seconds("--part-limit", part_limit))


def keep(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="As DIR/runs/ID: a certificate, and a run of which it has a line.")
    ],
    trust: Trust = False,
    part_limit: PartLimit = "",
) -> int:
    """Make a run of the simulator again that a certificate did not keep, and keep it whole beside the others."""
    from holdfast.harness.commands.verify import keep as keep_run

    return keep_run(
        run, Path(str(stored_run(run.parent.parent))), trust=trust, limit_s=seconds("--part-limit", part_limit)
    )


def rerun(
    stored: StoredRun,
    times: Annotated[int, typer.Option(min=1, metavar="K", help="How often.")] = 5,
    trust: Trust = False,
    env: Env = None,
    out: Out = OUTPUT,
    part_limit: PartLimit = "",
) -> int:
    """Repeat a run several times, and count how often it ends the same way."""
    from holdfast.harness.commands.plans import rerun as rerun_run
    from holdfast.harness.commands.reports import free_folder

    pass_on(env)
    limit_s = seconds("--part-limit", part_limit)
    return rerun_run(stored, times, free_folder(out), trust=trust, limit_s=limit_s)


def judge(
    stored: Annotated[
        str,
        typer.Argument(metavar="RUN", help="Folder of a stored run, or its URL, s3a://BUCKET/...", callback=stored_run),
    ],
    trust: Trust = False,
    s3_endpoint: S3Endpoint = "",
    spark_master: SparkMaster = "",
    part_limit: PartLimit = "",
) -> int:
    """Judge a stored run again, from its history.

    On Spark if its output is large or in an object store.
    """
    from holdfast.harness.commands.plans import judge_stored

    settle("", s3_endpoint, spark_master, None, None)
    return judge_stored(stored, trust=trust, limit_s=seconds("--part-limit", part_limit))
