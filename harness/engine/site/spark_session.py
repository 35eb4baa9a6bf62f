"""A session of Spark to judge with: quiet, on all cores of this machine unless a cluster is named."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.lease import Lease
from holdfast.harness.model.case import Tier

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
_SETTINGS = {
    "spark.app.name": "holdfast judge",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def require_spark(why: str) -> None:
    """
    Raises:
        UsageError: this machine cannot run Spark.
    """
    if reason := lacking(Tier.SPARK):
        raise UsageError(f"{why} on Spark, which {reason}.")


@contextmanager
def judging_session(master: str = "", settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """The session that is there already, or one that ends with its Java when the context does.

    Args:
        master: of a cluster; empty: this machine.
        settings: of Spark, beside those of the site's `spark-defaults.conf`.

    Raises:
        UsageError: Spark is not there, or does not start.
    """
    require_spark("there is something to judge")
    from pyspark.sql import SparkSession

    if active := SparkSession.getActiveSession():
        yield active
        return
    master = master or LOCAL
    builder = SparkSession.builder.master(master).config(map={**_SETTINGS, **(settings or {})})
    if master.startswith("local"):
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    with Lease("judge") as folder:
        log = folder / "spark.log"
        try:
            yield _started(builder, master, log)
        finally:
            _end_java()


def _started(builder: SparkSession.Builder, master: str, log: Path) -> SparkSession:
    try:
        with _standard_error_in(log), _workers_like_this(master):
            return builder.getOrCreate()
    except Exception as error:  # Whatever Spark raises, it did not start.
        raise UsageError(
            f"Spark does not start at {master} ({_cause(error, log)}); is it there, and of version 4?"
        ) from error


@contextmanager
def _workers_like_this(master: str) -> Iterator[None]:
    """Else workers on this machine are whatever python3 is; a context reads it when it starts, so none stays set."""
    if not master.startswith("local") or "PYSPARK_PYTHON" in os.environ:  # noqa: TID251
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable  # noqa: TID251
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]  # noqa: TID251


@contextmanager
def _standard_error_in(path: Path) -> Iterator[None]:
    """Redirect standard error, which Java inherits, to a file that is needed only if it fails."""
    sys.stderr.flush()
    saved = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _cause(error: Exception, log: Path) -> str:
    said = [line for line in log.read_text(errors="replace").splitlines() if "Exception" in line or "ERROR" in line]
    return (said[-1] if said else str(error).partition("\n")[0]).strip()


def _end_java() -> None:
    """PySpark would leave its Java running until this process ends."""
    from pyspark import SparkContext

    if context := SparkContext._active_spark_context:
        context.stop()
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    if gateway:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
