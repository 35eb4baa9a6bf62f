"""`holdfast config check`: what a configuration file comes to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

import msgspec
from rich.console import Console
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.artefacts.files import read_content
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model import profile
from holdfast.harness.model.configuration import ConfigurationFile, EffectiveConfiguration, NoteKind, Origin
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import ExpectedEnd, Plan, WorkloadSpec
from holdfast.harness.model.plural import plural
from holdfast.harness.spi.outside_files import WRITTEN_BYTES
from holdfast.harness.spi.system import ConfigurationAware

ODD = 1
_STYLES = {NoteKind.WARNING: "yellow", NoteKind.LINT: "cyan"}
_DEPLOYMENT = re.compile(r"^kind:\s*FlinkDeployment\s*$", re.MULTILINE)


def check_file(path: Path, system: str, assignments: Sequence[str], *, everything: bool, json: bool) -> int:
    """Print what a job comes to that is submitted to a cluster with this file, and what is odd about it; 1 if something
    is.

    Args:
        path: a `flink-conf.yaml`, a FlinkDeployment, or any other name for the nested file of Flink 2.x.
        system: who reads it.
        assignments: `KEY=VALUE`, as the job's program would set them.
        everything: each option with its value and origin, too.

    Raises:
        UsageError: the file, or what it says, is refused; one sentence.
    """
    under_test = registry.system(system)
    if not isinstance(under_test, ConfigurationAware):
        raise UsageError(f"system {system!r} reads no configuration files: name one that does, such as reference.")
    plan = Plan(
        system=system,
        job=KEYED_SUM,
        options=dict(map(_assignment, assignments)),
        configuration_file=ConfigurationFile(path.name, _content(path)),
        workload=WorkloadSpec("synthetic"),
        expected_end=ExpectedEnd.ACCEPTED,
    )
    try:
        configuration = under_test.effective_configuration(plan)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    if json:
        consoles.print_json(msgspec.json.encode(configuration).decode())
    else:
        _print(consoles.results(), configuration, everything=everything)
    return ODD if any(note.kind in _STYLES for note in configuration.notes) else 0


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise UsageError(f"--set is {text!r}: write KEY=VALUE.")
    return key, value


def _content(path: Path) -> str:
    try:
        text = read_content(path, WRITTEN_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text: byte {error.start} is not.") from error
    return _of_deployment(path, text) if _DEPLOYMENT.search(text) else text


def _of_deployment(path: Path, text: str) -> str:
    """The options of a FlinkDeployment of Kubernetes, each on its line of that file."""
    lines = text.splitlines()
    begins = [number for number, line in enumerate(lines) if line.strip() == "flinkConfiguration:"]
    if len(begins) != 1:
        raise UsageError(
            f"{path}: the options of a FlinkDeployment stand below its one line `flinkConfiguration:`, and there are "
            f"{len(begins)} such lines."
        )
    above = _indent(lines[begins[0]])
    below = list(takewhile(lambda line: not line.strip() or _indent(line) > above, lines[begins[0] + 1 :]))
    return "\n" * (begins[0] + 1) + dedent("\n".join(below))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _print(console: Console, configuration: EffectiveConfiguration, *, everything: bool) -> None:
    """What it comes to, then what is odd, and last, if it is asked for, one line for each option, defaults dimmed."""
    settings = {setting.key: setting for setting in configuration.settings}
    for name, words in _in_short({key: setting.value for key, setting in settings.items()}):
        console.print(Text(f"{name:<12}", "bold") + Text(words))
    for note in configuration.notes:
        style = _STYLES.get(note.kind, "dim")
        console.print(Text(f"{note.kind} {note.name}: ", style) + Text(note.sentence, "" if style != "dim" else style))
    if not everything:
        console.print(Text(f"{plural(len(settings), 'option')} with their origins: --all", "dim"))
        return
    keys = max(map(len, settings))
    values = max(len(setting.value) for setting in settings.values() if setting.origin is Origin.DEFAULT)
    for setting in settings.values():
        origin = f"{setting.origin} {setting.place}".rstrip()
        style = "dim" if setting.origin is Origin.DEFAULT else ""
        console.print(Text(f"{setting.key:<{keys}}  {setting.value or '-':<{values}}  {origin}", style))


def _in_short(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What matters first: when checkpoints are taken, what stays of them, and what follows a failure."""
    if values[profile.INTERVAL] == "0 ms":
        yield "checkpoints", f"off: {profile.INTERVAL} is not set, and a job that fails begins from nothing"
    else:
        way = "unaligned" if values[profile.UNALIGNED] == "true" else "aligned"
        yield (
            "checkpoints",
            f"every {_duration(values[profile.INTERVAL])}, {_words(values[profile.MODE])}, {way}, given up after "
            f"{_duration(values[profile.TIMEOUT])}; {values[profile.TOLERABLE_FAILURES]} failures are tolerated",
        )
        kept = values[profile.RETENTION] == "RETAIN_ON_CANCELLATION"
        where = values[profile.DIRECTORY] or "the coordinator's memory"
        yield "kept", f"{values[profile.RETAINED]} in {where}, {'also' if kept else 'not'} when the job is cancelled"
    snapshots = "increments" if values[profile.INCREMENTAL] == "true" else "full snapshots"
    yield "state", f"{values[profile.BACKEND]}, {snapshots}"
    yield "savepoints", values[profile.SAVEPOINT_DIRECTORY] or f"no directory: set {profile.SAVEPOINT_DIRECTORY}"
    yield "failures", _restart(values)


def _restart(values: Mapping[str, str]) -> str:
    strategy = values[profile.STRATEGY]
    match strategy:
        case "fixed-delay":
            attempts, delay = values[profile.FIXED_ATTEMPTS], _duration(values[profile.FIXED_DELAY])
            return f"{'any number of' if int(attempts) == profile.UNLIMITED else attempts} restarts, {delay} each"
        case "failure-rate":
            window, delay = _duration(values[profile.RATE_INTERVAL]), _duration(values[profile.RATE_DELAY])
            return f"{values[profile.RATE_FAILURES]} failures in {window}, a restart after {delay}"
        case "exponential-delay":
            first, most = _duration(values[profile.EXPONENTIAL_INITIAL]), _duration(values[profile.EXPONENTIAL_MAX])
            return f"restarts after {first}, growing to {most}"
    return "the job ends with the first one"


def _duration(value: str) -> str:
    """`600000 ms` as `10 min`."""
    left = int(value.partition(" ")[0])
    for unit, size in (("h", 3_600_000), ("min", 60_000), ("s", 1_000)):
        if left and left % size == 0:
            return f"{left // size} {unit}"
    return value


def _words(constant: str) -> str:
    return constant.lower().replace("_", "-")
