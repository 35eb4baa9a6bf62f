"""Run the steps of a night: python -m holdfast.suites.selfcheck.night [--list | --needs] [NAME...]

Without a name each step that has not finished in this night is run, in order; with names these are, finished or not. A
step that finished adds a line to `steps.jsonl` in the folder of the night, below build/night; one that was interrupted
does not, and is run again. A step that failed stays so until it is run by name. A night has the day on which it begins:
it lasts from noon to noon. The command ends with 1 if a step of the table, or one that was named, is not as expected.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from holdfast.suites.selfcheck.night.night import Night
from holdfast.suites.selfcheck.night.steps import STEPS, Step

NIGHTS = Path("build/night")


def main(arguments: Sequence[str] | None = None, steps: Sequence[Step] = STEPS, nights: Path = NIGHTS) -> int:
    """Run the steps, or say something of them."""
    parser = argparse.ArgumentParser(prog=".ci/nightly", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a step; default: each that has not finished")
    parser.add_argument("--list", action="store_true", help="print the steps, with their limits in minutes")
    parser.add_argument("--needs", action="store_true", help="print what has to be prepared for the steps")
    given = parser.parse_args(arguments)
    by_name = {step.name: step for step in steps}
    for name in given.names:
        if name not in by_name:
            parser.error(f"there is no step {name!r}: choose from {', '.join(by_name)}")
    # Of midnight, the day before.
    day = (datetime.now() - timedelta(hours=12)).date()  # noqa: TID251 - the night of whoever starts it
    night = Night(nights / day.isoformat(), day)
    wanted = [by_name[name] for name in given.names] or [step for step in steps if step.name not in night.finished]
    if given.list:
        for step in steps:
            sys.stdout.write(f"{step.name:20} {step.minutes:3} min\n")
        return 0
    if given.needs:
        sys.stdout.write(" ".join(dict.fromkeys(need for step in wanted for need in step.needs)) + "\n")
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: night.stop(number))
    for step in wanted:
        night.run(step)
    sys.stdout.write(night.table(steps))
    return int(not all(night.as_expected(step) for step in (wanted if given.names else steps)))


if __name__ == "__main__":
    sys.exit(main())
