"""Where the programs of Java are, for whoever starts one or says whether it can be started."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from holdfast.harness.spi.errors import UnusableSystem


def tool_of_java(name: str, environment: Mapping[str, str]) -> str:
    """The path of `java`, `javac` or `jcmd`; empty: there is none.

    Where JAVA_HOME is set, the Java there is the only one, as for Spark, Flink and Kafka themselves.
    """
    home = environment.get("JAVA_HOME", "")
    wanted = str(Path(home, "bin", name)) if home else name
    return shutil.which(wanted, path=environment.get("PATH")) or ""


def place_of_java(environment: Mapping[str, str]) -> str:
    """Where alone it is looked for, as the end of `Java is needed`; empty: on the PATH."""
    home = environment.get("JAVA_HOME", "")
    return f" in JAVA_HOME, which is {home}" if home else ""


def class_path(entries: Iterable[str | Path]) -> str:
    """Where Java finds classes, as -cp has it.

    Args:
        entries: archives and folders; an empty text, the current folder, is left out.

    Raises:
        UnusableSystem: the name of one would be read as two.
    """
    named = [str(each) for each in entries if str(each)]
    for each in named:
        if os.pathsep in each:
            raise UnusableSystem(
                f"{each!r} is to be on the class path of Java, and {os.pathsep!r} in its name ends the name there: "
                "rename it, or put it into another folder."
            )
    return os.pathsep.join(named)
