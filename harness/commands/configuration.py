"""`holdfast config check`: what a configuration file comes to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.text import Text

from holdfast.harness.commands import console as consoles
from holdfast.harness.engine.artefacts.files import read_content
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model.configuration import ConfigurationFile, EffectiveConfiguration, NoteKind, Origin
from holdfast.harness.model.jobs import KEYED_SUM
from holdfast.harness.model.plan import ExpectedEnd, Plan, WorkloadSpec
from holdfast.harness.spi.outside_files import WRITTEN_BYTES
from holdfast.harness.spi.system import ConfigurationAware

_STYLES = {NoteKind.WARNING: "yellow", NoteKind.LINT: "cyan"}


def check_file(path: Path, system: str, assignments: Sequence[str], *, json: bool) -> int:
    """Print the effective configuration of a job that is submitted to a cluster with this file.

    Args:
        path: a `flink-conf.yaml`, or any other name for the nested file of Flink 2.x.
        system: who reads it.
        assignments: `KEY=VALUE`, as the job's program would set them.

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
        _print(consoles.results(), configuration)
    return 0


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise UsageError(f"--set is {text!r}: write KEY=VALUE.")
    return key, value


def _content(path: Path) -> str:
    try:
        return read_content(path, WRITTEN_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text: byte {error.start} is not.") from error


def _print(console: Console, configuration: EffectiveConfiguration) -> None:
    """One line for each option with its value and origin, the defaults dimmed; then what is odd."""
    settings = configuration.settings
    keys = max(len(setting.key) for setting in settings)
    values = max(len(setting.value) for setting in settings if setting.origin is Origin.DEFAULT)
    for setting in settings:
        origin = f"{setting.origin} {setting.place}".rstrip()
        style = "dim" if setting.origin is Origin.DEFAULT else ""
        console.print(Text(f"{setting.key:<{keys}}  {setting.value or '-':<{values}}  {origin}", style))
    for note in configuration.notes:
        console.print(Text(f"{note.kind} {note.name}: ", _STYLES[note.kind]) + Text(note.sentence))
