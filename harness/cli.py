"""The `holdfast` command: options and arguments. What a command does is in `commands`, imported when it runs.

Exit codes: 0 certified or partial, 1 refuted, 2 inconclusive, 3 wrong usage, 4 harness error, 128 + n after signal n.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path
from traceback import print_exc
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from holdfast.harness.engine.errors import ForeignError, NotApplicable, UsageError
from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Status
from holdfast.harness.spi.errors import UnusableSystem

WRONG_USAGE = 3
HARNESS_ERROR = 4
INTERRUPTED = 130


class Commands(TyperGroup):
    """A list of commands shows the first paragraph of each in full."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for command in self.commands.values():
            command.short_help = " ".join((command.help or "").split("\n\n")[0].split())
        super().format_commands(ctx, formatter)


# Help is no rich markup: that takes what stands in brackets for a style.
app = typer.Typer(
    name="holdfast",
    cls=Commands,
    context_settings={"max_content_width": 120},
    help="Chaos and conformance testing for checkpointing stream processors.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

images_app = typer.Typer(
    help="Images of the services that the containers tier starts.",
    no_args_is_help=True,
    cls=Commands,
    rich_markup_mode=None,
)
app.add_typer(images_app, name="images")
services_app = typer.Typer(
    help="Broker and object store as plain processes, without Docker.",
    no_args_is_help=True,
    cls=Commands,
    rich_markup_mode=None,
)
app.add_typer(services_app, name="services")
flink_app = typer.Typer(
    help="Apache Flink, as a system under test.", no_args_is_help=True, cls=Commands, rich_markup_mode=None
)
app.add_typer(flink_app, name="flink")
config_app = typer.Typer(
    help="Configuration files of a cluster.", no_args_is_help=True, cls=Commands, rich_markup_mode=None
)
app.add_typer(config_app, name="config")

job_app = typer.Typer(
    help="Jobs of the reference runtime, in the background; arguments as those of Flink's command line.",
    no_args_is_help=True,
    cls=Commands,
    rich_markup_mode=None,
)
app.add_typer(job_app, name="job")

checkpoint_app = typer.Typer(
    help="Stored checkpoints and savepoints.", no_args_is_help=True, cls=Commands, rich_markup_mode=None
)
app.add_typer(checkpoint_app, name="checkpoint")

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where reports and runs go.")]
OUTPUT = Path("holdfast-out")


def _stored(run: str | Path | None) -> str | Path | None:
    """A report names its runs from the folder that holds it; a command finds them from where `certify` was called,
    too."""
    return run if run is None or Path(run).exists() or not (OUTPUT / run).exists() else type(run)(OUTPUT / run)


StoredRun = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a stored run.", callback=_stored)]
Trust = Annotated[
    bool, typer.Option("--trust", help="Run the code of its system, though no installed package registers that.")
]
KafkaBootstrap = Annotated[str, typer.Option(metavar="HOST:PORT", help="Brokers that exist, instead of our own.")]
S3Endpoint = Annotated[
    str,
    typer.Option(
        "--s3-endpoint",
        metavar="URL",
        help="An object store that exists; its keys come from HOLDFAST_S3_ACCESS_KEY and HOLDFAST_S3_SECRET_KEY.",
    ),
]
SparkMaster = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="A Spark cluster that exists, spark://HOST:PORT; see fixtures/services/README.md for what it must have.",
    ),
]
Images = Annotated[
    list[str] | None, typer.Option("--image", metavar="NAME=IMAGE", help="An image of your own; repeatable.")
]
Env = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME", help="The system under test gets this variable, too; repeatable."),
]
FaultsOn = Annotated[
    list[str] | None,
    typer.Option("--allow-faults-on", metavar="NAME", help="Faults may act on this existing service; repeatable."),
]


@app.command()
def certify(
    system: Annotated[
        str, typer.Argument(metavar="SYSTEM", help="A registered system, or module:name; +VARIANT.", show_default=False)
    ] = "",
    state_backend: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="In place of a system: a keyed state backend, registered or module:factory; +WRAPPER. Judged by its "
            "kit (suites/certify/README.md).",
        ),
    ] = "",
    checkpoint_storage: Annotated[
        str,
        typer.Option(
            metavar="URI|module:factory",
            help="In place of a system: a checkpoint storage, judged by its kit (suites/certify/README.md).",
        ),
    ] = "",
    file_system: Annotated[
        str,
        typer.Option(
            metavar="URI|module:factory", help="In place of a system: a file system for checkpoints, by its kit."
        ),
    ] = "",
    location: Annotated[str, typer.Option(metavar="URI", help="Below which the kit may store.")] = "",
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Of a storage, sink or source; repeatable.")
    ] = None,
    restart_strategy: Annotated[
        str, typer.Option(metavar="module:factory", help="In place of a system: a restart strategy, by its kit.")
    ] = "",
    sink: Annotated[str, typer.Option(metavar="module:factory", help="In place of a system: a sink, by its kit.")] = "",
    source: Annotated[
        str, typer.Option(metavar="module:factory", help="In place of a system: a source, by its kit.")
    ] = "",
    budget: Annotated[
        str, typer.Option(metavar="30s", help="Time limit for random plans; no new run starts after it.")
    ] = "",
    rule: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only cases that decide this rule; repeatable.")
    ] = None,
    area: Annotated[list[str] | None, typer.Option(metavar="A", help="Only rules such as BAR; repeatable.")] = None,
    tier: Annotated[list[Tier] | None, typer.Option(help="Only this tier; repeatable.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random plans and programs.")] = 0,
    runs: Annotated[int | None, typer.Option(min=1, help="Random plans that must count.")] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Cases that compute at a time, by default one for each core; 1: one after the other."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print results.json and nothing else.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="List every rule and every consequence.")] = False,
    out: Out = OUTPUT,
    require: Annotated[str, typer.Option(metavar="certified", help="Exit with 2 if the title is less.")] = "",
    require_tier: Annotated[list[Tier] | None, typer.Option(help="Refuse to go on without it; repeatable.")] = None,
    waivers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Findings that may wait: [[waivers]], as in a holdfast.toml.")
    ] = None,
    kafka_bootstrap: KafkaBootstrap = "",
    s3_endpoint: S3Endpoint = "",
    spark_master: SparkMaster = "",
    image: Images = None,
    allow_faults_on: FaultsOn = None,
    env: Env = None,
) -> int:
    """Certify a system: run every case that applies, decide every rule, and write a report.

    Exit codes: 0 certified or partial, 1 refuted, 2 inconclusive, 3 wrong usage, 4 harness error, 128 + n after
    signal n.
    """
    from holdfast.harness.commands.certify import certify as run_certify
    from holdfast.harness.commands.folders import free_folder
    from holdfast.harness.engine.certification.request import Request
    from holdfast.harness.engine.nights.settings import read_settings
    from holdfast.harness.engine.site.machine import processors

    if require not in ("", "certified"):
        raise UsageError(f"--require is {require!r}; allowed is certified: use that or leave it out.")
    parts = {
        "state_backend": state_backend,
        "checkpoint_storage": checkpoint_storage,
        "file_system": file_system,
        "restart_strategy": restart_strategy,
        "sink": sink,
        "source": source,
    }
    chosen = {name.replace("_", "-"): factory for name, factory in parts.items() if factory}
    if len(chosen) + bool(system) != 1:
        given = [*(["SYSTEM"] if system else []), *(f"--{contract}" for contract in chosen)]
        what = f"Both {' and '.join(given)} are given" if given else "Missing argument 'SYSTEM'"
        raise UsageError(f"{what}: name a system, or a part of one such as --state-backend module:factory.")
    if (location or option) and not (checkpoint_storage or file_system or sink or source):
        raise UsageError(
            "--location and --option are for --checkpoint-storage, --file-system, --sink and --source: "
            "add one, or leave them out."
        )
    for contract, factory in chosen.items():
        from holdfast.harness.commands.kits import certify_part, plugged_into

        if Tier.PROCESS in (tier or ()) and (
            system := plugged_into(contract, factory, location, _pairs("--option", option))
        ):
            break  # Its kit runs all the same; on the simulator alone nothing but the kit does.
        for name, value in (("--budget", budget), ("--runs", runs), ("--jobs", jobs), ("--waivers", waivers)):
            if value:
                raise UsageError(f"{name} is for a system; a kit runs each of its checks once, here: leave it out.")
        return certify_part(
            contract,
            factory,
            command=shlex.join(["holdfast", *sys.argv[1:]]),
            folder=free_folder(out),
            rules=frozenset(rule or ()),
            areas=frozenset(area or ()),
            seed=seed,
            json=json,
            require_certified=bool(require),
            location=location,
            options=_pairs("--option", option),
            tiers=frozenset(tier or ()),
        )
    request = Request(
        command=shlex.join(["holdfast", *sys.argv[1:]]),
        system=system,
        folder=free_folder(out),
        seed=seed,
        rules=frozenset(rule or ()),
        areas=frozenset(area or ()),
        tiers=frozenset(tier or ()),
        required=frozenset(require_tier or ()),
        runs=runs,
        budget_s=_seconds("--budget", budget),
        jobs=jobs or processors(),
    )
    _settle(kafka_bootstrap, s3_endpoint, spark_master, image, allow_faults_on)
    _pass_on(env)
    aside = read_settings(waivers, Path()).waivers if waivers else ()
    if waivers and not aside:
        raise UsageError(f"--waivers: {waivers} waives nothing; write [[waivers]] there, or leave it out.")
    return run_certify(request, json=json, verbose=verbose, require_certified=bool(require), waivers=aside)


@app.command()
def campaign(
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="A registered system, or module:name; +VARIANT.")],
    seeds: Annotated[str, typer.Option(metavar="FIRST-LAST", help="Draw seeds, from 1.")] = "1-100000",
    jobs: Annotated[int, typer.Option(min=1, help="Processes that run drawn plans.")] = 1,
    workers: Annotated[
        str, typer.Option(metavar="MASTER", help="Spark whose executors run them: spark://host:7077, local[2].")
    ] = "",
    withdraw: Annotated[
        list[str] | None, typer.Option(metavar="SEED=REASON", help="Its alarm does not count; repeatable.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Of the campaign.")] = OUTPUT / "campaign",
) -> int:
    """Run many random plans on the simulator. Interrupted campaigns resume; results accumulate over runs."""
    from holdfast.harness.commands.campaign import run_campaign

    return run_campaign(system, seeds, out, jobs, withdraw or (), workers)


@app.command()
def nightly(
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Settings; else holdfast.toml, or tool.holdfast of pyproject.toml, from here."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where nights go.")] = Path("nights"),
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of all random plans; the date as YYYYMMDD, if not given.")
    ] = None,
    budget: Annotated[str, typer.Option(metavar="60min", help="Time limit; no new run starts after it.")] = "",
    system: Annotated[
        list[str] | None, typer.Option(metavar="SYSTEM", help="In place of those of the settings; repeatable.")
    ] = None,
    tier: Annotated[list[Tier] | None, typer.Option(help="In place of those of the settings; repeatable.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Cases that compute at a time.")] = None,
    reruns: Annotated[int | None, typer.Option(min=0, metavar="K", help="How often a failing plan runs again.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print night.json and nothing else.")] = False,
) -> int:
    """Certify every system of the settings, then run random plans until the time is used; the seed is the date.

    An interrupted night resumes. Exit codes: 0 nothing refuted that is not waived, 1 refuted, 2 inconclusive, 3 wrong
    usage, 4 harness error, 128 + n after signal n.
    """
    from holdfast.harness.commands.nightly import run_night, settings_with
    from holdfast.harness.engine.nights.settings import read_settings

    settings = settings_with(
        read_settings(config, Path()),
        systems=tuple(system or ()),
        tiers=tuple(tier or ()),
        budget_s=_seconds("--budget", budget),
        workers=jobs,
        reruns=reruns,
    )
    sites = settings.sites
    _settle(
        sites.kafka_bootstrap, sites.s3_endpoint, sites.spark_master, list(sites.images), list(sites.allow_faults_on)
    )
    _pass_on(list(settings.environment))
    return run_night(settings, out, seed, command=shlex.join(["holdfast", *sys.argv[1:]]), json=json)


@app.command()
def trend(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where nights are.")] = Path("nights"),
) -> int:
    """Draw all nights of a folder as one page: rules, findings, recovery times, coverage."""
    from holdfast.harness.commands.trend import show_trend

    return show_trend(folder)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A night or a certificate: folder or JSON file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> int:
    """Say what changed between two nights or certificates; exit with 1 if something is newly refuted."""
    from holdfast.harness.commands.difference import show_difference

    return show_difference(old, new, json=json)


@app.command()
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
) -> int:
    """Execute a plan from a file, judge it and keep the run.

    A system that only the file names must be registered, or needs --trust; one of --system needs neither.
    """
    from holdfast.harness.commands.folders import free_folder
    from holdfast.harness.commands.plans import run_file

    _settle(kafka_bootstrap, s3_endpoint, spark_master, image, allow_faults_on)
    _pass_on(env)
    return run_file(plan, system, tier, free_folder(out), trust=trust)


@app.command()
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
    out: Out = OUTPUT,
    kafka_bootstrap: KafkaBootstrap = "",
    s3_endpoint: S3Endpoint = "",
    spark_master: SparkMaster = "",
    image: Images = None,
    allow_faults_on: FaultsOn = None,
) -> int:
    """Run the same plans on several systems: verdicts and recovery times in one table and one picture."""
    from holdfast.harness.commands.compare import compare as compare_systems
    from holdfast.harness.commands.folders import free_folder

    _settle(kafka_bootstrap, s3_endpoint, spark_master, image, allow_faults_on)
    return compare_systems(systems, plans, tier, runs, free_folder(out))


@app.command()
def replay(stored: StoredRun, trust: Trust = False) -> int:
    """Repeat a simulated run and compare trace hashes."""
    from holdfast.harness.commands.plans import replay as replay_run

    return replay_run(stored, trust=trust)


@app.command()
def rerun(
    stored: StoredRun,
    times: Annotated[int, typer.Option(min=1, metavar="K", help="How often.")] = 5,
    trust: Trust = False,
    env: Env = None,
    out: Out = OUTPUT,
) -> int:
    """Repeat a run on its tier and say how often it shows the same."""
    from holdfast.harness.commands.folders import free_folder
    from holdfast.harness.commands.plans import rerun as rerun_run

    _pass_on(env)
    return rerun_run(stored, times, free_folder(out), trust=trust)


@app.command()
def judge(
    stored: Annotated[
        str,
        typer.Argument(metavar="RUN", help="Folder of a stored run, or its URL, s3a://BUCKET/...", callback=_stored),
    ],
    trust: Trust = False,
    s3_endpoint: S3Endpoint = "",
    spark_master: SparkMaster = "",
) -> int:
    """Decide a run again from its stored history; on Spark if its output is large or in an object store."""
    from holdfast.harness.commands.plans import judge_stored

    _settle("", s3_endpoint, spark_master, None, None)
    return judge_stored(stored, trust=trust)


@app.command()
def rules(
    name: Annotated[
        str, typer.Argument(metavar="[ID]", help="One rule in full, with the lines of code that it leads to.")
    ] = "",
    area: Annotated[list[str] | None, typer.Option(metavar="A", help="Only rules such as BAR; repeatable.")] = None,
    status: Annotated[list[Status] | None, typer.Option(case_sensitive=False, help="Only these; repeatable.")] = None,
    out: Out = OUTPUT,
) -> int:
    """List the rules with their last statuses, cases and mutants."""
    from holdfast.harness.commands.rules import show_rules

    return show_rules(name, out, area or (), status or ())


@app.command()
def pictures(
    stored: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="Folder of a stored run.", callback=_stored)
    ] = None,
    system: Annotated[str, typer.Option(metavar="SYSTEM", help="Without a run: whose.")] = "reference",
    trust: Trust = False,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the files go.")] = OUTPUT / "pictures",
) -> int:
    """Draw a stored run; or the state machines of a system, and how it takes checkpoints and recovers."""
    from holdfast.harness.commands.pictures import draw_run, draw_system

    return draw_run(stored, out, trust=trust) if stored is not None else draw_system(system, out)


@app.command()
def mutants(
    names: Annotated[list[str] | None, typer.Argument(metavar="[ID ...]", help="Only these; of a table, rows.")] = None,
    table: Annotated[
        bool, typer.Option("--table", help="Print each step of the protocol and each way to take it wrongly.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="With --table: print JSON and nothing else.")] = False,
) -> int:
    """Try to kill known-bad systems; exit with 0 only if each is killed by an oracle named for it."""
    if table:
        from holdfast.harness.commands.deviations import show_table

        return show_table(names or [], json=json)
    from holdfast.harness.commands.mutants import try_mutants

    return try_mutants(names or [])


@app.command()
def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="A part, by its option of certify, such as state-backend or sink. Or program, over JSON lines; "
            "pipeline, on Spark; system, an engine that runs as processes.",
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the module that is written.")],
    lang: Annotated[str, typer.Option(metavar="python|node|go|java|rust", help="Of a program; else Python.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder; else NAME, here.", show_default=False)
    ] = None,
) -> int:
    """Write a small folder that runs: a right implementation, its wrong twin, a test file and a CI file."""
    from holdfast.harness.commands.new import write_new

    return write_new(kind, name, lang, out)


@app.command()
def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="plan, results (results.json), history (a line of history/NODE.jsonl), "
            "or adapter (a message between harness and a program over JSON lines).",
        ),
    ],
) -> int:
    """Print the JSON Schema of a format."""
    from holdfast.harness.commands.schemas import show_schema

    return show_schema(name)


@app.command()
def doctor(
    system: Annotated[
        str,
        typer.Argument(metavar="[SYSTEM]", help="A registered system, or module:name; +VARIANT.", show_default=False),
    ] = "",
) -> int:
    """Say which tiers this machine can run, and what is missing; or whether a system can be judged at all.

    With a system, in some seconds: it loads, it runs without a fault, it persists something, it goes on behind a kill.
    Exit codes then are those of certify.
    """
    if system:
        from holdfast.harness.commands.doctor_system import examine_system

        return examine_system(system)
    from holdfast.harness.commands.doctor import examine

    return examine()


@config_app.command("check")
def config_check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A flink-conf.yaml, or a config.yaml of Flink 2.x.")],
    system: Annotated[str, typer.Option(help="Who reads it.")] = "reference",
    assignments: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="As the job's program does; repeatable.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the configuration as JSON and nothing else.")] = False,
) -> int:
    """Print what is in force, where each value comes from, and what is odd about it."""
    from holdfast.harness.commands.configuration import check_file

    return check_file(file, system, assignments or (), json=json)


@images_app.command("build")
def build_images(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME ...]", help="Only these.")] = None,
    base: Annotated[str, typer.Option(metavar="pull|debootstrap", help="Where the Debian base comes from.")] = "",
    image: Images = None,
) -> int:
    """Build the images that are missing."""
    from holdfast.harness.commands.images import build_images as build

    return build(names or (), base, image or ())


@images_app.command("check")
def check_images(image: Images = None) -> int:
    """Say which images are there; exit with 3 if one is missing."""
    from holdfast.harness.commands.images import check_images as check

    return check(image or ())


@services_app.command("install")
def install_services(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME ...]", help="Only these.")] = None,
) -> int:
    """Fetch what is missing by Maven and Go, into the user's cache."""
    from holdfast.harness.commands.services import install_services as install

    return install(names or ())


@flink_app.command("install")
def install_flink(
    version: Annotated[str, typer.Argument(metavar="[VERSION]", help="Such as 2.3; by default the newest known.")] = "",
) -> int:
    """Fetch Flink's jars by their Maven coordinates, into the user's cache; goes on where it was interrupted."""
    from holdfast.harness.commands.services import install_flink as install

    return install(version)


@services_app.command("check")
def check_services() -> int:
    """Say what is there, and is as it was installed; exit with 3 if something is missing."""
    from holdfast.harness.commands.services import check_services as check

    return check()


@app.command()
def sweep(
    out: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where reports and runs go.")] = OUTPUT,
    trust: Trust = False,
) -> int:
    """Undo, end and remove what a killed harness left."""
    from holdfast.harness.commands.sweep import sweep_folder

    return sweep_folder(out, trust=trust)


JobFolder = Annotated[Path, typer.Option("--folder", metavar="DIR", help="Folder of the cluster.")]
JobId = Annotated[str, typer.Argument(metavar="JOB_ID", help="As `holdfast job list` prints it.")]
SavepointType = Annotated[str, typer.Option("--type", metavar="TYPE", help="canonical or native.")]
JOBS = Path("holdfast-jobs")


@job_app.command("run")
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
    folder: JobFolder = JOBS,
) -> int:
    """Run a job."""
    from holdfast.harness.commands.jobs import run_job

    return run_job(
        folder,
        program,
        _pairs("-D", options),
        path=savepoint_path,
        allow_left_out=allow_non_restored_state,
        claim_mode=claim_mode,
        parallelism=parallelism,
        detached=detached,
    )


@job_app.command("list")
def job_list(folder: JobFolder = JOBS) -> int:
    """Print the jobs of the cluster."""
    from holdfast.harness.commands.jobs import list_jobs

    return list_jobs(folder)


@job_app.command("savepoint")
def job_savepoint(
    job: JobId,
    target: Annotated[str, typer.Argument(metavar="[TARGET_DIRECTORY]", help="As configured if not given.")] = "",
    form: SavepointType = "canonical",
    folder: JobFolder = JOBS,
) -> int:
    """Take a savepoint of a running job."""
    from holdfast.harness.commands.jobs import take_savepoint

    return take_savepoint(folder, job, target, form)


@job_app.command("stop")
def job_stop(
    job: JobId,
    savepoint_path: Annotated[
        str, typer.Option("-p", "--savepointPath", metavar="DIR", help="Where its savepoint goes.")
    ] = "",
    drain: Annotated[bool, typer.Option("-d", "--drain", help="Emit everything that is held back first.")] = False,
    form: SavepointType = "canonical",
    folder: JobFolder = JOBS,
) -> int:
    """Stop a job with a savepoint."""
    from holdfast.harness.commands.jobs import stop_job

    return stop_job(folder, job, savepoint_path, form, drain=drain)


@job_app.command("cancel")
def job_cancel(
    job: JobId,
    with_savepoint: Annotated[
        str, typer.Option("-s", "--withSavepoint", metavar="DIR", help="With a savepoint in DIR; in flink-1.14 alone.")
    ] = "",
    folder: JobFolder = JOBS,
) -> int:
    """Cancel a job."""
    from holdfast.harness.commands.jobs import cancel_job, cancel_with_savepoint

    return cancel_with_savepoint(folder, job, with_savepoint) if with_savepoint else cancel_job(folder, job)


@job_app.command("end-cluster")
def job_end_cluster(folder: JobFolder = JOBS) -> int:
    """End the cluster, with whatever runs."""
    from holdfast.harness.commands.jobs import end_cluster

    return end_cluster(folder)


@checkpoint_app.command("inspect")
def checkpoint_inspect(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Its folder, or its metadata file.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture (SVG).")] = None,
    system: Annotated[str, typer.Option("--system", metavar="SYSTEM", help="That wrote it.")] = "reference",
) -> int:
    """Show what a checkpoint or savepoint holds: operators, subtasks, key groups, files and sizes."""
    from holdfast.harness.commands.inspection import inspect_checkpoint

    return inspect_checkpoint(path, system, picture, json=json)


def main() -> None:
    """The entry point."""
    from holdfast.harness.commands.stream import steady_streams
    from holdfast.harness.engine.site.memory import lacking_memory

    # What stands in the current folder can be named, as in `certify --sink my_sink:Sink`; what is installed goes first.
    with suppress(OSError):  # It may be gone.
        sys.path.append(str(Path.cwd()))
    streams = steady_streams()
    lacking = lacking_memory()
    code = _give_up(lacking) if lacking else execute(sys.argv[1:])
    for stream in streams:
        stream.flush()
    if streams[0].full:
        typer.echo(
            "holdfast: there is no room where standard output goes, and not all was written: make some.", err=True
        )
        code = code or HARNESS_ERROR
    raise SystemExit(code)


def execute(arguments: list[str]) -> int:
    """Run one command line; its exit code. The only place that catches what users and plug-ins do wrong."""
    try:
        with foreign("the system under test or a plug-in"):
            return int(app(arguments, standalone_mode=False) or 0)
    except (UsageError, NotApplicable, UnusableSystem) as error:
        return _refuse(str(error))
    except ForeignError as error:
        return _give_up(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except MemoryError:
        return _give_up("there is not enough memory; allow more, or do less at a time with --jobs 1.")
    except OSError as error:  # Of the machine: no room, no permission, no more files. A bug of ours is none of these.
        return _give_up(_of_the_machine(error))
    except Exception as error:
        # The command line library's own complaint, whose exit code would be 2; it may be vendored, so go by its method.
        complaint = getattr(error, "format_message", None)
        if complaint is not None and type(error).__name__ == "NoArgsIsHelpError":  # It is the help.
            typer.echo(complaint(), err=True)
            return WRONG_USAGE
        if complaint is not None:
            return _refuse(f"{complaint().rstrip('.')}. See holdfast --help.")
        print_exc()
        return HARNESS_ERROR
    finally:
        _close_services()


def _settle(kafka: str, s3: str, spark: str, images: list[str] | None, faults_on: list[str] | None) -> None:
    from holdfast.harness.engine.site.services import settle, site_of

    settle(site_of(kafka, s3, spark, images or (), faults_on or ()))


def _pass_on(names: list[str] | None) -> None:
    from holdfast.harness.engine.site.surroundings import pass_on

    pass_on(names or ())


def _close_services() -> None:
    """Whatever a command opened; one that opened none has not imported any of this."""
    site = sys.modules.get("holdfast.harness.engine.site.services")
    if site is not None:
        site.close_services()


def _refuse(sentence: str) -> int:
    typer.echo(f"holdfast: {sentence}", err=True)
    return WRONG_USAGE


def _give_up(sentence: str) -> int:
    typer.echo(f"holdfast: {sentence}", err=True)
    return HARNESS_ERROR


def _of_the_machine(error: OSError) -> str:
    """One sentence of what the machine did not do, with what it was about where that is known."""
    if error.strerror is None:
        return " ".join(str(error).split())
    place = f"{error.filename}: " if error.filename is not None else ""
    room = "; make room, or choose another place with --out" if error.errno in (ENOSPC, EDQUOT) else ""
    return f"{place}{error.strerror}{room}."


def _pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """KEY=VALUE, by key."""
    for text in texts or ():
        if not text.partition("=")[0] or "=" not in text:
            raise UsageError(f"{option} is {text!r}; write KEY=VALUE.")
    return dict(text.split("=", 1) for text in texts or ())


def _seconds(option: str, text: str) -> float | None:
    from holdfast.harness.model.units import duration_ms

    if text.strip().isdigit():  # Options of a job take it for milliseconds, and nobody means that here.
        raise UsageError(f"{option} is {text!r}, a number without a unit; write {text.strip()}s or {text.strip()}min.")
    try:
        return duration_ms(text) / 1_000 if text else None
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error


if __name__ == "__main__":
    main()
