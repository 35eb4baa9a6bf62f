"""What this machine can run. Nothing is imported or started to find out, but Java is asked for its version."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from holdfast.harness.model.case import Tier

JAVA_VERSIONS = (17, 21)
_DOCKER_SOCKET = Path("/var/run/docker.sock")


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


def _lacking_for_spark() -> str:
    wanted = []
    if find_spec("pyspark") is None:
        wanted.append("PySpark 4 (pip install pyspark)")
    if _java_version() not in JAVA_VERSIONS:
        wanted.append("Java 17 or 21 (Debian: apt install openjdk-17-jre-headless)")
    return f"needs {' and '.join(wanted)}" if wanted else ""


def _lacking_for_containers() -> str:
    wanted = []
    if find_spec("testcontainers") is None:
        wanted.append("Testcontainers (pip install testcontainers)")
    if not os.access(_DOCKER_SOCKET, os.W_OK):
        wanted.append(f"Docker (Debian: apt install docker.io, and write access to {_DOCKER_SOCKET})")
    return f"needs {' and '.join(wanted)}" if wanted else ""


def _java_version() -> int | None:
    """Major version of the Java on the path."""
    java = shutil.which("java")
    if java is None:
        return None
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=10, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    quoted = answer.split('"')
    return int(quoted[1].split(".")[0]) if len(quoted) > 1 and quoted[1].split(".")[0].isdigit() else None
