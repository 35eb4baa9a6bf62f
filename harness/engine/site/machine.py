"""What this machine can run, how busy it is, and which versions are installed, so that a report states what its results
were got with. Nothing is imported or started to find out, except Java, for its version."""

from __future__ import annotations

import os
import platform
import re
import socket  # noqa: TID251 - asks whether an engine answers; no run depends on it
import struct
import subprocess
import sys
from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from holdfast.harness.engine.site.answers import answer_of
from holdfast.harness.model.case import Tier
from holdfast.harness.model.command_line import DISTRIBUTION, install_command
from holdfast.harness.spi.surroundings import place_of_java, tool_of_java
from holdfast.harness.spi.system import System, TellsVersions

JAVA_VERSIONS = (17, 21)
_LOCAL_DOCKER = "unix:///var/run/docker.sock"
_PRESSURE = Path("/proc/pressure")
_TOTAL = re.compile(rb"some .*total=(\d+)")
_ANSWER_S = 2.0
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group of whoever is at the other end of a socket: `struct ucred` of unix(7)."""
_CLIENTS = ("pyspark", "testcontainers", "confluent_kafka", "minio", "boto3", "toxiproxy")
"""What the services and their clients are reached with."""


@cache
def lacking(tier: Tier) -> str:
    """What a tier lacks on this machine, and what to do about it; empty if it can run."""
    if tier is Tier.SIM:
        return ""
    if tier is Tier.PROCESS:
        return "" if sys.platform == "linux" else f"needs Linux, this is {sys.platform}"
    if tier is Tier.SPARK:
        return _lacking_for_spark()
    return _lacking_for_containers()


def processors() -> int:
    """How many processors this process may use; 1 where that is unknown."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def stalled_ms() -> float:
    """For how long since its boot processes on this machine have waited for a processor or for a disk, the two added; 0
    where that is not reported (Linux does, as pressure stall information).

    Of disks, too: a process that others keep from flushing its files for seconds is as late as one without a processor.
    """
    return sum(_pressure_ms(resource) for resource in ("cpu", "io"))


def _pressure_ms(resource: str) -> float:
    try:
        found = _TOTAL.match((_PRESSURE / resource).read_bytes())
    except OSError:
        return 0.0
    return int(found[1]) / 1_000 if found else 0.0


def _lacking_for_spark() -> str:
    wanted = []
    if find_spec("pyspark") is None or find_spec("pandas") is None:
        wanted.append(f"PySpark 4 with pandas ({install_command('spark')})")
    if _java_version() not in JAVA_VERSIONS:
        where = place_of_java(os.environ)  # noqa: TID251 - as Spark itself
        wanted.append(f"Java 17 or 21{where} (Debian: apt install openjdk-17-jre-headless)")
    return f"needs {' and '.join(wanted)}" if wanted else ""


def _lacking_for_containers() -> str:
    wanted = []
    absent = [name for name in _CLIENTS if find_spec(name) is None]
    if absent:
        wanted.append(f"{', '.join(absent)} ({install_command('spark', 'containers')})")
    docker = os.environ.get("DOCKER_HOST") or _LOCAL_DOCKER  # noqa: TID251 - as the clients of Docker do
    peer = _peer(docker)
    if peer is None:
        wanted.append(f"a Docker engine that responds at {docker} (Debian: apt install docker.io)")
    elif peer == 0:
        wanted.append(f"to see the processes of the Docker engine at {docker} (in a container: --pid host)")
    return f"needs {' and '.join(wanted)}" if wanted else ""


def _peer(address: str) -> int | None:
    """The pid of the process that accepts connections at unix://PATH or tcp://HOST:PORT; a socket file may outlive it.

    0: it is in a pid namespace that is not seen here; -1: unknown; None: no process accepts any.
    """
    at = urlsplit(address)
    with socket.socket(socket.AF_UNIX if at.scheme == "unix" else socket.AF_INET) as stream:
        stream.settimeout(_ANSWER_S)
        try:
            stream.connect(at.path if at.scheme == "unix" else (at.hostname or "localhost", at.port or 0))
        except (OSError, ValueError):
            return None
        if at.scheme == "unix" and sys.platform == "linux":
            pid, _, _ = _CREDENTIALS.unpack(stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
            return int(pid)
    return -1 if at.scheme in ("unix", "tcp", "http", "https") else None


def _java_version() -> int | None:
    """Major version of the Java that services and Spark are started with."""
    java = tool_of_java("java", os.environ)  # noqa: TID251 - as those who start it
    if not java:
        return None
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=10, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    quoted = answer.split('"')
    return int(quoted[1].split(".")[0]) if len(quoted) > 1 and quoted[1].split(".")[0].isdigit() else None


_LIBRARIES = ("msgspec", "numpy", "pyarrow")


def versions() -> dict[str, str]:
    """By name, of the program, of Python, of the libraries that a verdict rests on, and of the platform."""
    return {
        "holdfast": _version(DISTRIBUTION),
        "python": platform.python_version(),
        **{name: _version(name) for name in _LIBRARIES},
        "platform": platform.platform(),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def on_tiers(system: System, ran: Collection[Tier]) -> tuple[str, ...]:
    """What a system under test is made of where it ran, one sentence for each tier, and where that differs from another
    tier, whether it ran there or not.

    Args:
        system: that was certified.
        ran: tiers that took part.
    """
    if not isinstance(system, TellsVersions):
        return ()
    found = {
        tier: answer_of(system.versions, tier, kind=Mapping, of=str) for tier in Tier if tier in system.capabilities
    }
    made_of = (f"On tier {tier}: {_listed(found[tier])}." for tier in found if tier in ran and found[tier])
    names = dict.fromkeys(name for each in found.values() for name in each)
    differences = (_difference(name, found) for name in names) if ran else ()
    return (*made_of, *filter(None, differences))


def _difference(name: str, found: Mapping[Tier, Mapping[str, str]]) -> str:
    """How the versions of one part differ by tier; empty if all tiers that have it have one version."""
    tiers = {tier: each[name] for tier, each in found.items() if name in each}
    if len(set(tiers.values())) < 2:
        return ""
    listed = " and ".join(f"{version} on tier {tier}" for tier, version in tiers.items())
    return f"Tiers differ in {name}: {listed}. What is shown of one version is not shown of the other."


def _listed(made_of: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in made_of.items())
