"""One night: the steps that have finished, and the step that runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from time import monotonic  # noqa: TID251 - how long a step takes is shown, and is limited

import msgspec

from holdfast.suites.selfcheck.night.left_behind import MARK, in_docker, kill_marked, left_behind
from holdfast.suites.selfcheck.night.steps import Step

AS_EXPECTED = "as expected"
NOT_THERE = 77
"""The exit code of a step whose subject this machine does not have, as in other test harnesses."""
GRACE_S = 30.0
"""For a step that is told to end, to undo what it has done."""
LOOK_S = 0.5
"""Between looks for a signal and the limit; the end of a step is seen at once."""
SHOWN_LINES = 20
"""Of the output of a step that is not as expected."""


class Finished(msgspec.Struct, frozen=True):
    """A step that has finished.

    Attributes:
        step: its name.
        seconds: how long it took.
        verdict: `as expected`, or what else.
        commit: of the sources.
        fine: nothing is wrong with it.
    """

    step: str
    seconds: int
    verdict: str
    commit: str
    fine: bool


class Night:
    """A folder with a line for each finished step, and the output of each.

    Args:
        folder: of the night; is made when a step is run.
        day: on which it began.

    Attributes:
        finished: by name, how each step that has finished came out the last time.
    """

    def __init__(self, folder: Path, day: date) -> None:
        self._folder, self._day, self._signal = folder, day, 0
        self._record = folder / "steps.jsonl"
        lines = self._record.read_bytes().splitlines() if self._record.exists() else []
        known = [msgspec.json.decode(line, type=Finished) for line in lines]
        self.finished: dict[str, Finished] = {each.step: each for each in known}

    def stop(self, number: int) -> None:
        """A signal has come: the step that runs is ended."""
        self._signal = number

    def as_expected(self, step: Step) -> bool:
        """Whether a step has finished, and nothing was wrong with it."""
        return step.name in self.finished and self.finished[step.name].fine

    def run(self, step: Step) -> None:
        """Run a step to its end or its limit.

        Raises:
            SystemExit: a signal has come; the step is ended, and not recorded.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        log = self._folder / f"{step.name}.log"
        sys.stdout.write(f"{step.name}: at most {step.minutes} min; output: {log}\n")
        sys.stdout.flush()
        mark = f"{os.getpid()}-{step.name}"
        began = monotonic()
        with log.open("wb") as output:
            verdict, fine = self._verdict(step, output.fileno(), mark)
        found = Finished(step.name, round(monotonic() - began), verdict, _commit(), fine)
        with self._record.open("ab") as record:
            record.write(msgspec.json.encode(found) + b"\n")
        self.finished[step.name] = found
        sys.stdout.write(f"{step.name}: {verdict}, {found.seconds} s\n")
        if not fine:
            last = log.read_text(errors="replace").splitlines()[-SHOWN_LINES:]
            sys.stdout.write("".join(f"    {line}\n" for line in last))
        sys.stdout.flush()

    def table(self, steps: Sequence[Step]) -> str:
        """What the night comes to, a line a step."""
        lines = [f"{'step':20} {'seconds':>7} {'limit':>7}  {'commit':9} verdict"]
        for step in steps:
            found = self.finished.get(step.name)
            seconds, commit, verdict = (found.seconds, found.commit, found.verdict) if found else ("", "", "not run")
            lines.append(f"{step.name:20} {seconds:>7} {60 * step.minutes:>7}  {commit:9} {verdict}")
        known = [self.finished[step.name].seconds for step in steps if step.name in self.finished]
        wrong = sum(not self.as_expected(step) for step in steps)
        lines.append(
            f"{'all':20} {sum(known):>7} {60 * sum(step.minutes for step in steps):>7}  {wrong} not as expected"
        )
        return "".join(f"{line}\n" for line in lines)

    def _verdict(self, step: Step, output: int, mark: str) -> tuple[str, bool]:
        """What came of a step, and whether that is fine; nothing of it runs afterwards."""
        command = ("bash", "-euo", "pipefail", "-c", step.command)
        environment, most_s = self._environment(mark), monotonic() + 60 * step.minutes
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
        )
        try:
            while process.poll() is None:
                if self._signal:
                    sys.exit(128 + self._signal)
                if monotonic() > most_s:
                    return f"NOT {AS_EXPECTED}: ended at its limit of {step.minutes} min", False
                with suppress(subprocess.TimeoutExpired):
                    process.wait(LOOK_S)
            left = left_behind(mark)
        finally:
            _end(process, mark)
        if left:
            return f"NOT {AS_EXPECTED}: exit code {process.returncode}, and left behind: {', '.join(left)}", False
        if process.returncode == NOT_THERE:
            return "not tried: this machine does not have it", True
        if process.returncode:
            return f"NOT {AS_EXPECTED}: exit code {process.returncode}", False
        return AS_EXPECTED, True

    def _environment(self, mark: str) -> Mapping[str, str]:
        own = os.environ  # noqa: TID251 - a step has that of the shell
        night = {"NIGHT": str(self._folder.absolute()), "DAY": str(self._day.toordinal())}
        return {**own, **night, MARK: mark}


def _end(process: subprocess.Popen[bytes], mark: str) -> None:
    """End what still runs of a step, and remove what it has in Docker."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    kill_marked(mark)
    process.wait()
    if in_docker():
        subprocess.run(("holdfast", "sweep", "build"))


def _commit() -> str:
    command = ("git", "describe", "--always", "--dirty", "--exclude=*")
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()
