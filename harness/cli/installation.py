"""This machine, and what is installed on it: doctor, sweep, images, services, flink."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from holdfast.harness.cli.options import (
    OUTPUT,
    Images,
    Trust,
)


def doctor(
    system: Annotated[
        str,
        typer.Argument(metavar="[SYSTEM]", help="A registered system, or module:name; +VARIANT.", show_default=False),
    ] = "",
) -> int:
    """Show which tiers this machine can run, and what is missing; or try one system for some seconds.

    A system is tried in steps: it loads, it runs without a fault, it persists something, it continues after a kill.
    The exit code is then that of certify.
    """
    if system:
        from holdfast.harness.commands.doctor_system import examine_system

        return examine_system(system)
    from holdfast.harness.commands.doctor import examine

    return examine()


def sweep(
    out: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where reports and runs go.")] = OUTPUT,
    trust: Trust = False,
) -> int:
    """Undo the faults of a harness that was killed, and end and remove what it left behind."""
    from holdfast.harness.commands.resume import sweep_folder

    return sweep_folder(out, trust=trust)


def build_images(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME ...]", help="Only these.")] = None,
    base: Annotated[str, typer.Option(metavar="pull|debootstrap", help="Where the Debian base comes from.")] = "",
    image: Images = None,
) -> int:
    """Build the images that are missing."""
    from holdfast.harness.commands.services import build_images as build

    return build(names or (), base, image or ())


def check_images(image: Images = None) -> int:
    """Say which images are there; exit with 3 if one is missing."""
    from holdfast.harness.commands.services import check_images as check

    return check(image or ())


def install_services(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME ...]", help="Only these.")] = None,
) -> int:
    """Fetch what is missing by Maven and Go, into the user's cache."""
    from holdfast.harness.commands.services import install_services as install

    return install(names or ())


def check_services() -> int:
    """Say what is there, and is as it was installed; exit with 3 if something is missing."""
    from holdfast.harness.commands.services import check_services as check

    return check()


def install_flink(
    version: Annotated[str, typer.Argument(metavar="[VERSION]", help="Such as 2.3; by default the newest known.")] = "",
) -> int:
    """Fetch Flink's jars by their Maven coordinates, into the user's cache; goes on where it was interrupted."""
    from holdfast.harness.commands.services import install_flink as install

    return install(version)
