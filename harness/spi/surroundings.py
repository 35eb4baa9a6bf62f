"""What of our environment the system under test gets, and where the programs of Java are.

It gets a short list, and what the user names here.

It does not inherit ours: keys of object stores, tokens and passwords stand there. It gets what a program, an
interpreter, Java and Spark need to be found and to speak the user's language.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from holdfast.harness.spi.errors import UnusableSystem

PASSED_ON = "HOLDFAST_ENVIRONMENT"
"""An environment variable: names of others, with commas between them, that are passed on as well."""
_NAMES = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ"),
        *("LANG", "LANGUAGE", "LD_LIBRARY_PATH", "VIRTUAL_ENV"),
        *("JAVA_HOME", "HADOOP_HOME", "HADOOP_CONF_DIR"),
        *("HOLDFAST_RUN", PASSED_ON),
    }
)
_PREFIXES = ("LC_", "PYTHON", "PYSPARK_", "SPARK_")


def passed(environment: Mapping[str, str]) -> dict[str, str]:
    """What the system under test gets of an environment."""
    passed_on = frozenset(environment.get(PASSED_ON, "").split(","))
    return {
        name: value
        for name, value in environment.items()
        if name in _NAMES or name in passed_on or name.startswith(_PREFIXES)
    }


def python_path(folders: Iterable[str]) -> str:
    """Where a process that we start finds modules, as PYTHONPATH has it.

    Args:
        folders: where this one finds them; an empty one, the current folder, is left out.

    Raises:
        UnusableSystem: the name of one would be read as two folders, and modules of another one be imported; or no
            process can be started, as the current folder is gone.
    """
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise UnusableSystem("the current folder is gone, and no process begins in it: choose another one.") from error
    named = [each for each in folders if each]
    for each in named:
        if os.pathsep in each:
            raise UnusableSystem(
                f"{each!r} is a folder of Python modules, and {os.pathsep!r} in its name ends the name in PYTHONPATH: "
                "rename it, or start holdfast in another folder."
            )
    return os.pathsep.join(named)


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
