"""A session of local Spark until it stands with its executors: with archived classes, and without.

Both sides take turns. *Processor* is what driver program, Java and executors have spent when the last of them is there.

python -m holdfast.suites.bench.spark_start [--repeats 5]
"""

from __future__ import annotations

import time
from typing import Annotated, NamedTuple

import typer
from rich.progress import track

from holdfast.fixtures.host.installed_spark import QUICK_JAVA, archive_classes, quick_java
from holdfast.fixtures.systems.structured_streaming.local_host import LocalHost
from holdfast.fixtures.systems.structured_streaming.session import WORKERS, Session
from holdfast.suites.bench.figures import load, median, spent_s, table, with_spread

COLUMNS = ("classes", "seconds", "of archived", "processor s", "of archived")
LIMIT_S = 120.0
_POLL_S = 0.02


class Start(NamedTuple):
    """Wall time and processor time in seconds."""

    wall: float
    processor: float


def started(java: str) -> Start:
    """Start a session and end it.

    Args:
        java: options of its virtual machines.

    Raises:
        OSError: it does not stand in time.
    """
    host = LocalHost()
    options = {"spark.driver.extraJavaOptions": java, "spark.executor.extraJavaOptions": java}
    host.configuration = {**host.configuration, **options}
    session = Session(host)
    try:
        began = time.monotonic()
        session.start()
        while not (session.version and len(session.executors) == WORKERS):
            if session.dead or time.monotonic() > began + LIMIT_S:
                words = session.program.last_words() if session.program else ""
                raise OSError(f"a session of Spark does not stand after {LIMIT_S:.0f} s: {words}")
            session.hear()
            session.look()
            time.sleep(_POLL_S)
        assert session.program is not None
        return Start(time.monotonic() - began, spent_s(session.program.pid))
    finally:
        session.close()


def main(repeats: Annotated[int, typer.Option(min=1, help="How often each side is measured.")] = 5) -> None:
    """Measure and print."""
    archive_classes()
    sides = {"archived": quick_java(), "one by one": QUICK_JAVA}
    starts: dict[str, list[Start]] = {name: [] for name in sides}
    for _ in track(range(repeats), "starting", transient=True):
        for name, java in sides.items():
            starts[name].append(started(java))
    wall, processor = (median([start[part] for start in starts["archived"]]) for part in (0, 1))
    rows = [
        (
            name,
            with_spread([each.wall for each in side]),
            f"{median([each.wall for each in side]) / wall:.1f}",
            with_spread([each.processor for each in side]),
            f"{median([each.processor for each in side]) / processor:.1f}",
        )
        for name, side in starts.items()
    ]
    print(table(f"A session of local Spark, {WORKERS} executors, {repeats} repeats, {load()}", COLUMNS, rows))


if __name__ == "__main__":
    typer.run(main)
