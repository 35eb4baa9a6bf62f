"""Seeds that the executors of a Spark cluster draw: a DataFrame with a row for each chunk.

The packages that take part travel as a broadcast archive, which every executor unpacks. So a cluster needs our
dependencies, not us. Each worker compares the fingerprint of what it imports with ours before it draws.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from importlib.metadata import distributions
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.exploration import spark_task as shipped
from holdfast.harness.engine.exploration.fingerprint import packages
from holdfast.harness.engine.exploration.ledger import Seeds
from holdfast.harness.engine.site.registry import Toolbox
from holdfast.harness.engine.site.spark_session import judging_session
from holdfast.harness.spi.system import System

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

AHEAD = 3
"""Chunks for each core that are drawn in one job: what is lost when it is broken off."""
LISTEN_S = 0.1
"""How late an interruption may take effect."""
_GROUP = "holdfast campaign"


def drawn_on_spark(
    master: str, system: System, tools: Toolbox, code: str, chunks: Sequence[Seeds], interrupted: Callable[[], str]
) -> Iterator[bytes]:
    """Each chunk as `draw_chunk` answers it, in order; what is not done at an interruption is lost.

    Args:
        master: of Spark, such as `spark://host:7077` or `local[2]`.
        system: under test.
        tools: that take part.
        code: fingerprint of all that.
        chunks: first and last seed of each.
        interrupted: the reason to stop, or an empty text.

    Raises:
        UsageError: Spark is not there, or its workers cannot run our code.
    """
    with judging_session(master) as spark:
        sent = Code(code, spark.sparkContext.broadcast(archive(system, tools)))
        waiting = iter(chunks)
        while not interrupted() and (wave := list(islice(waiting, AHEAD * spark.sparkContext.defaultParallelism))):
            yield from _collected(spark, draw_on_spark(spark, system.name, sent, wave), interrupted)


class Code(NamedTuple):
    """What workers run.

    Attributes:
        fingerprint: that they must find there.
        archive: of our packages, for every executor.
    """

    fingerprint: str
    archive: Broadcast[bytes]


def draw_on_spark(spark: SparkSession, system: str, code: Code, chunks: Sequence[Seeds]) -> DataFrame:
    """What executors draw, a task for each chunk.

    Args:
        spark: where.
        system: under test, by name.
        code: what they run.
        chunks: first and last seed of each.

    Returns:
        Columns `first`, `last`, `passed`, `failed`, `inconclusive` (numbers) and `drawn` (what `draw_chunk` answers).
    """
    from pyspark.cloudpickle import register_pickle_by_value

    register_pickle_by_value(shipped)
    numbers = spark.range(0, len(chunks), 1, len(chunks))
    return numbers.mapInArrow(partial(shipped.draw, system, *code, tuple(chunks)), shipped.COLUMNS)


def archive(system: System, tools: Toolbox) -> bytes:
    """Every package that takes part, and the entry points by which they are found, as a ZIP file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, root in packages(system, tools):
            place = name.replace(".", "/")
            for source in sorted(root.rglob("*")) if root.is_dir() else []:
                if source.is_file() and "__pycache__" not in source.parts:
                    file.write(source, f"{place}/{source.relative_to(root).as_posix()}")
            if root.is_file():
                file.write(root, f"{place}{root.suffix}")
        # Of several with one name the first is in force.
        for distribution in {each.name: each for each in reversed(list(distributions()))}.values():
            points = distribution.read_text("entry_points.txt") or ""
            if "[holdfast." in points:
                place = f"{distribution.name.replace('-', '_')}-{distribution.version}.dist-info"
                file.writestr(f"{place}/entry_points.txt", points)
                file.writestr(f"{place}/METADATA", distribution.read_text("METADATA") or "")
    return content.getvalue()


def _collected(spark: SparkSession, frame: DataFrame, interrupted: Callable[[], str]) -> Iterator[bytes]:
    """Collect in a thread, so that an interruption takes effect while executors draw."""
    from pyspark import inheritable_thread_target
    from pyspark.errors import PySparkException

    context = spark.sparkContext

    def collect() -> list[bytes]:
        context.setJobGroup(_GROUP, _GROUP, interruptOnCancel=True)
        return [bytes(row.drawn) for row in frame.select("drawn").collect()]

    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(inheritable_thread_target(spark)(collect))
        while not wait([waiting], LISTEN_S).done:
            if interrupted():  # Again each time: the job may not have begun yet.
                context.cancelJobGroup(_GROUP)
    error = waiting.exception()
    if error is None:
        yield from waiting.result()
    elif interrupted():
        return
    elif isinstance(error, PySparkException):
        raise UsageError(f"the workers of {context.master} cannot draw: {shipped.sentence(str(error))}") from error
    else:
        raise error
