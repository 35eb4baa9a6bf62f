"""Certificates and what adds up to them: certify, verify, campaign, nightly, trend, diff."""

from __future__ import annotations

import sys
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
    Trust,
    TrustBegun,
    pairs,
    pass_on,
    seconds,
    settle,
)
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.case import Tier
from holdfast.harness.model.command_line import command_line


def certify(
    context: typer.Context,
    system: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM", help="reference, spark, flink, ... or module:name; +VARIANT.", show_default=False
        ),
    ] = "",
    state_backend: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A keyed state backend: a registered name or module:factory; +WRAPPER.",
        ),
    ] = "",
    checkpoint_storage: Annotated[
        str,
        typer.Option(
            metavar="URI|module:factory",
            help="A checkpoint storage.",
        ),
    ] = "",
    file_system: Annotated[
        str,
        typer.Option(metavar="URI|module:factory", help="A file system for checkpoints."),
    ] = "",
    location: Annotated[str, typer.Option(metavar="URI", help="A place below which the kit may store something.")] = "",
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="An option of the storage, sink or source; repeatable."),
    ] = None,
    restart_strategy: Annotated[str, typer.Option(metavar="module:factory", help="A restart strategy.")] = "",
    sink: Annotated[str, typer.Option(metavar="module:factory", help="A sink.")] = "",
    source: Annotated[str, typer.Option(metavar="module:factory", help="A source.")] = "",
    budget: Annotated[
        str, typer.Option(metavar="30s", help="Time limit for random plans; no new run starts after it.")
    ] = "",
    rule: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only cases that decide this rule, such as BAR-03; repeatable."),
    ] = None,
    area: Annotated[
        list[str] | None, typer.Option(metavar="A", help="Only the rules of this area, such as BAR; repeatable.")
    ] = None,
    tier: Annotated[list[Tier] | None, typer.Option(help="Only this tier; repeatable.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random plans and programs.")] = 0,
    runs: Annotated[int | None, typer.Option(min=1, help="How many random plans must count.")] = None,
    keep: Annotated[
        str, typer.Option(metavar="all", help="Store every run on a real tier, and one of each case on the simulator.")
    ] = "",
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Every case that applies, not only the cheapest that decide every rule.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Cases that compute at the same time; by default one for each processor."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print results.json and nothing else.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print in words all that is in the report: rules, windows, notes.")
    ] = False,
    out: Out = OUTPUT,
    require: Annotated[str, typer.Option(metavar="certified", help="Exit code 2 if the title is less.")] = "",
    resume: Annotated[
        Path | None, typer.Option(metavar="DIR", help="In place of a system: go on with an interrupted certification.")
    ] = None,
    trust: TrustBegun = False,
    require_tier: Annotated[
        list[Tier] | None, typer.Option(help="Refuse to begin where this tier is not there; repeatable.")
    ] = None,
    waivers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with findings that do not count for now: [[waivers]].")
    ] = None,
    kafka_bootstrap: KafkaBootstrap = "",
    s3_endpoint: S3Endpoint = "",
    spark_master: SparkMaster = "",
    image: Images = None,
    allow_faults_on: FaultsOn = None,
    env: Env = None,
) -> int:
    """Certify a system: run the cases that decide every rule, and write a report.

    Exit codes: 0 certified or partial, 1 refuted, 2 inconclusive, 3 wrong usage, 4 harness error, 128 + n after
    signal n.
    """
    from holdfast.harness.commands.certify import certify as run_certify
    from holdfast.harness.engine.certification.request import Request
    from holdfast.harness.engine.site.machine import processors

    if require not in ("", "certified"):
        raise UsageError(f"--require is {require!r}; allowed is certified: use that or leave it out.")
    if keep not in ("", "all"):
        raise UsageError(f"--keep is {keep!r}; allowed is all: use that or leave it out.")
    if resume is not None:
        from holdfast.harness.commands.resume import go_on

        _refuse_beside_resume(context)
        return go_on(resume, trust=trust, json=json, verbose=verbose, require_certified=bool(require))
    if trust:
        raise UsageError("--trust is for --resume; what you name yourself needs no permission: leave it out.")
    parts = {
        "state_backend": state_backend,
        "checkpoint_storage": checkpoint_storage,
        "file_system": file_system,
        "restart_strategy": restart_strategy,
        "sink": sink,
        "source": source,
    }
    command = command_line(*sys.argv[1:])
    pass_on(env)
    if not system or any(parts.values()) or location or option:
        from holdfast.harness.commands.kits import (
            certify_part,
            named_part,
            part_request,
            plugged_into,
            refuse_for_kits,
        )

        contract, factory = named_part(system, parts, stores=bool(location or option))
        options, tiers = pairs("--option", option), frozenset(tier or ())
        # With its system its kit runs all the same; on the simulator alone nothing but the kit does.
        system = plugged_into(contract, factory, location, options) if Tier.PROCESS in tiers else ""
        if not system:
            refuse_for_kits(
                {
                    "--budget": budget,
                    "--runs": runs,
                    "--thorough": thorough,
                    "--keep": keep,
                    "--jobs": jobs,
                    "--waivers": waivers,
                }
            )
            requested = part_request(
                contract,
                factory,
                command=command,
                rules=frozenset(rule or ()),
                areas=frozenset(area or ()),
                seed=seed,
                location=location,
                options=options,
                tiers=tiers,
            )
            return certify_part(requested, out, json=json, require_certified=bool(require))
    request = Request(
        command=command,
        system=system,
        folder=out,
        seed=seed,
        rules=frozenset(rule or ()),
        areas=frozenset(area or ()),
        tiers=frozenset(tier or ()),
        required=frozenset(require_tier or ()),
        runs=runs,
        budget_s=seconds("--budget", budget),
        thorough=thorough,
        keep_all=bool(keep),
        jobs=jobs or processors(),
    )
    settle(kafka_bootstrap, s3_endpoint, spark_master, image, allow_faults_on)
    return run_certify(request, json=json, verbose=verbose, require_certified=bool(require), waivers=waivers)


BESIDE_RESUME = {"resume", "trust", "json", "verbose", "require"}
"""Parameters that say how the result is shown, and what the folder may choose."""


def _refuse_beside_resume(context: typer.Context) -> None:
    """Refuse options beside --resume: a certification goes on as it was begun."""
    given = [
        each.opts[0] if each.param_type_name == "option" else str(each.name).upper()
        for each in context.command.params
        if each.name not in BESIDE_RESUME and (source := context.get_parameter_source(str(each.name)))
        if source.name == "COMMANDLINE"
    ]
    if given:
        raise UsageError(f"--resume goes on with what was begun, as it was begun: leave out {', '.join(given)}.")


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Of a certification that was interrupted or killed.")],
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List every rule and every consequence.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print results.json and nothing else.")] = False,
    trust: TrustBegun = False,
) -> int:
    """Write the reports of a certification that was killed, of what is finished; what did not run is named."""
    from holdfast.harness.commands.resume import go_on

    return go_on(folder, trust=trust, json=json, verbose=verbose, finished_alone=True)


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
    part_limit: PartLimit = "",
) -> int:
    """Run many random plans on the simulator. Interrupted campaigns resume; results accumulate over runs."""
    from holdfast.harness.commands.campaign import run_campaign

    limit_s = seconds("--part-limit", part_limit)
    return run_campaign(system, seeds, out, jobs, withdraw or (), workers, limit_s)


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
    """Certify every system of the settings, and spend the time that is left on random plans.

    The seed is the date, if none is given.

    An interrupted night resumes. Exit codes: 0 nothing refuted that is not waived, 1 refuted, 2 inconclusive, 3 wrong
    usage, 4 harness error, 128 + n after signal n.
    """
    from holdfast.harness.commands.nightly import run_night, settings_with
    from holdfast.harness.engine.nights.settings import read_settings

    settings = settings_with(
        read_settings(config, Path()),
        systems=tuple(system or ()),
        tiers=tuple(tier or ()),
        budget_s=seconds("--budget", budget),
        workers=jobs,
        reruns=reruns,
    )
    sites = settings.sites
    settle(
        sites.kafka_bootstrap, sites.s3_endpoint, sites.spark_master, list(sites.images), list(sites.allow_faults_on)
    )
    pass_on(list(settings.environment))
    return run_night(settings, out, seed, command=command_line(*sys.argv[1:]), json=json)


def trend(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where nights are.")] = Path("nights"),
) -> int:
    """Draw all nights of a folder as one page: rules, findings, recovery times, coverage."""
    from holdfast.harness.commands.nightly import show_trend

    return show_trend(folder)


def matrix(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Certificates, or folders that hold some.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the table.")] = Path("matrix"),
) -> int:
    """Put certificates of several systems, versions or nights into one table, with a badge for each."""
    from holdfast.harness.commands.matrix import write_matrix

    return write_matrix(folders, out)


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A night or a certificate: folder or JSON file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> int:
    """Show what changed between two nights or certificates; exit code 1 if something is newly refuted."""
    from holdfast.harness.commands.nightly import show_difference

    return show_difference(old, new, json=json)


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a certificate, with all that lies in it.")],
    replay: Annotated[int, typer.Option(min=0, metavar="K", help="Repeat K runs of the simulator.")] = 10,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Which ones; by default a random choice.", show_default=False)
    ] = None,
    trust: Trust = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> int:
    """Recompute somebody else's certificate: digests, statuses and title; judge its kept runs again; replay some.

    Exit codes: 0 it follows from what lies beside it, 1 it contradicts itself, 2 something was not checked, 3 it is no
    certificate.
    """
    from holdfast.harness.commands.verify import verify as verify_folder

    return verify_folder(folder, replay, seed, trust=trust, json=json)
