"""What of our environment the system under test gets: a short list, and what the user names here.

It does not inherit ours: keys of object stores, tokens and passwords stand there. It gets what a program, an
interpreter, Java and Spark need to be found and to speak the user's language.
"""

from __future__ import annotations

from collections.abc import Mapping

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
    asked = frozenset(environment.get(PASSED_ON, "").split(","))
    return {
        name: value
        for name, value in environment.items()
        if name in _NAMES or name in asked or name.startswith(_PREFIXES)
    }
