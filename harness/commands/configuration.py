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
from holdfast.harness.engine.site.answers import configuration_of
from holdfast.harness.model import profile
from holdfast.harness.model.configuration import ConfigurationFile, EffectiveConfiguration, NoteKind, Origin
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import ExpectedEnd, Plan, WorkloadSpec
from holdfast.harness.model.sentence import plural
from holdfast.harness.spi.outside_files import WRITTEN_BYTES
from holdfast.harness.spi.system import ConfigurationAware

ODD = 1
MOST_LINES = 10
"""What is printed without `everything`."""
_STYLES = {NoteKind.WARNING: "yellow", NoteKind.LINT: "cyan"}
_DEPLOYMENT = re.compile(r"^kind:\s*FlinkDeployment\s*$", re.MULTILINE)
_BY_DEFAULT, _OF_SPARK = "reference", "spark"
"""Who reads what Flink reads, and who reads the properties of Spark."""
_SPARK_FILE = re.compile(r"spark-defaults.*|.*\.conf")


def check_files(paths: Sequence[Path], system: str, assignments: Sequence[str], *, everything: bool, json: bool) -> int:
    """Print what a job comes to that is submitted to a cluster with each of these files, and what is odd about it; 1 if
    something is.

    Args:
        paths: a `flink-conf.yaml`, a FlinkDeployment, a `spark-defaults.conf`, or any other name for the nested file of
            Flink 2.x; none: options alone.
        system: who reads it; empty: whom the file is for.
        assignments: `KEY=VALUE`, as the job's program or its command line would set them.
        everything: each note, and each option with its value and origin, too.
        json: one configuration for a program.

    Raises:
        UsageError: a file, or its content, is refused; one sentence.
    """
    if not (paths or assignments):
        raise UsageError("there is nothing to check: name a file, or set an option by --set KEY=VALUE.")
    if json and len(paths) > 1:
        raise UsageError(f"--json prints one configuration, and {len(paths)} files are named: name one.")
    options = dict(map(_assignment, assignments))
    codes: list[int] = []
    for path in paths or (None,):
        configuration = _effective(path, system or _reader(path, options), options)
        if json:
            consoles.print_json(msgspec.json.encode(configuration).decode())
        else:
            console = consoles.results()
            if len(paths) > 1:
                console.print(Text(str(path), "bold"))
            _print(console, configuration, everything=everything)
        codes.append(ODD if any(note.kind in _STYLES for note in configuration.notes) else 0)
    return max(codes)


def _reader(path: Path | None, options: Mapping[str, str]) -> str:
    """Whom a file, or options without one, are for."""
    if path is None:
        of_spark = any(key.startswith("spark.") for key in options)
    else:
        of_spark = _SPARK_FILE.fullmatch(path.name) is not None
    return _OF_SPARK if of_spark else _BY_DEFAULT


def _effective(path: Path | None, system: str, options: Mapping[str, str]) -> EffectiveConfiguration:
    under_test = registry.system(system)
    if not isinstance(under_test, ConfigurationAware):
        raise UsageError(
            f"system {system!r} reads no configuration files: name one that does, {_BY_DEFAULT} for Flink's or "
            f"{_OF_SPARK}."
        )
    plan = Plan(
        system=system,
        job=KEYED_SUM,
        options=dict(options),
        configuration_file=None if path is None else ConfigurationFile(path.name, _content(path)),
        workload=WorkloadSpec("synthetic"),
        expected_end=ExpectedEnd.ACCEPTED,
    )
    try:
        return configuration_of(under_test, plan)
    except ValueError as error:
        raise UsageError(f"{path}: {error}" if path else str(error)) from error


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
    """The effective options in short, then the notes, and last, on request, a line for each option, defaults dimmed."""
    settings = {setting.key: setting for setting in configuration.settings}
    brief = list(_in_short({key: setting.value for key, setting in settings.items()}))
    for name, words in brief:
        console.print(Text(f"{name:<12}", "bold") + Text(words))
    notes = sorted(configuration.notes, key=lambda note: list(NoteKind).index(note.kind))
    shown = notes if everything else notes[: MOST_LINES - len(brief) - 1]
    for note in shown:
        style = _STYLES.get(note.kind, "dim")
        console.print(Text(f"{note.kind} {note.name}: ", style) + Text(note.sentence, "" if style != "dim" else style))
    if not everything:
        more = f"{plural(len(notes) - len(shown), 'more note')}, and " if len(notes) > len(shown) else ""
        console.print(Text(f"{more}{plural(len(settings), 'option')} with their origins: --all", "dim"))
        return
    keys = max(map(len, settings))
    values = max(len(setting.value) for setting in settings.values() if setting.origin is Origin.DEFAULT)
    for setting in settings.values():
        origin = f"{setting.origin} {setting.place}".rstrip()
        style = "dim" if setting.origin is Origin.DEFAULT else ""
        console.print(Text(f"{setting.key:<{keys}}  {setting.value or '-':<{values}}  {origin}", style))


def _in_short(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """What matters first: when checkpoints are taken, what stays of them, and what follows a failure. A system without
    Flink's options states it in its notes."""
    if profile.INTERVAL not in values:
        return
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
