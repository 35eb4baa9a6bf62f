"""What several commands have in common: options, arguments, and what their texts mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.harness.engine.errors import UsageError

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where reports and runs go.")]
OUTPUT = Path("holdfast-out")


def stored_run(run: str | Path | None) -> str | Path | None:
    """A report names its runs from the folder that holds its own; a command finds them from that one, too, and from
    where `certify` was called."""
    if run is None or Path(run).exists():
        return run
    return next((type(run)(place / run) for place in (OUTPUT, Path("..")) if (place / run).exists()), run)


StoredRun = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a stored run.", callback=stored_run)]
Trust = Annotated[
    bool, typer.Option("--trust", help="Run the code that it names, though no installed package registers that.")
]
TrustBegun = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Of an interrupted certification: run the code, and use the services, places, variables and waivers, that "
        "its folder names. What is registered or ships with Holdfast needs no permission.",
    ),
]
PartLimit = Annotated[
    str,
    typer.Option(
        metavar="30min",
        help="How long code that does not ship with Holdfast may take for one run; it runs in a process of its own.",
    ),
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


def settle(kafka: str, s3: str, spark: str, images: list[str] | None, faults_on: list[str] | None) -> None:
    """Take what exists already for services of runs; what is not named is started where it is needed."""
    from holdfast.harness.engine.site.services import settle, site_of

    settle(site_of(kafka, s3, spark, images or (), faults_on or ()))


def pass_on(names: list[str] | None) -> None:
    """Let the system under test have these variables of the environment, too."""
    from holdfast.harness.engine.site.surroundings import pass_on

    pass_on(names or ())


def pairs(option: str, texts: list[str] | None) -> dict[str, str]:
    """KEY=VALUE, by key."""
    for text in texts or ():
        if not text.partition("=")[0] or "=" not in text:
            raise UsageError(f"{option} is {text!r}; write KEY=VALUE.")
    return dict(text.split("=", 1) for text in texts or ())


def seconds(option: str, text: str) -> float | None:
    """A duration with its unit; None if the text is empty."""
    from holdfast.harness.model.units import duration_ms

    if text.strip().isdigit():  # Options of a job take it for milliseconds, which is not meant here.
        raise UsageError(f"{option} is {text!r}, a number without a unit; write {text.strip()}s or {text.strip()}min.")
    try:
        return duration_ms(text) / 1_000 if text else None
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
