"""What a run leaves: a folder that is there whole or not at all.

plan.json            what was run
history/             what happened (see history_files)
verdicts.json        tier, outcome, verdicts, trace hash
undo.jsonl           undos, as they were written before their faults acted (real tiers)
work/                what the accused wrote, logs among it (real tiers, kept where the run did not pass)
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.decode import check_version, decode
from holdfast.harness.engine.artefacts.history_files import read_history, write_history
from holdfast.harness.engine.artefacts.output_file import OutputFile
from holdfast.harness.engine.artefacts.owner import remove_owner, write_owner
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.executor.run_folder import CONTROL, PLAN, WORK, write_atomically
from holdfast.harness.model.case import Tier
from holdfast.harness.model.history import History
from holdfast.harness.model.journal import RESULTS_VERSION, Journal
from holdfast.harness.model.plan import PLAN_VERSION, Plan
from holdfast.harness.model.verdict import Outcome, Verdict

HISTORY = "history"
VERDICTS = "verdicts.json"
LATEST = "latest"
_PART = ".part"
PARTS = f".*{_PART}"
"""What folders of runs that are not over are called."""


class StoredVerdicts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`verdicts.json`."""

    version: int
    tier: Tier
    outcome: Outcome
    reason: str
    verdicts: tuple[Verdict, ...]
    precisions: dict[int, str]
    dispatched: int
    trace_hash: str


def make_folder(folder: Path) -> None:
    """Make a new folder.

    Raises:
        UsageError: it cannot be made there.
    """
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise UsageError(
            f"{folder.parent}: no folder can be made in it ({error.strerror}); choose another one with --out."
        ) from error


def open_run_folder(folder: Path, plan: Plan) -> Path:
    """Make the folder in which a run can begin: it holds the plan and gets its real name when the run is over."""
    part = folder.with_name(f".{folder.name}{_PART}")
    make_folder(part)
    write_owner(part)
    write_plan(part / PLAN, plan)
    return part


def close_run_folder(part: Path, folder: Path, run: Run) -> Path:
    """Store a finished run in the folder that it ran in, and give that its real name.

    Args:
        part: the folder that it ran in, see `open_run_folder`.
        folder: its real name; must not exist.
        run: what is stored: history and verdicts. Of a passed run its working files go.

    Returns:
        `folder`.

    Raises:
        OSError: it cannot be written; `part` stays.
    """
    history = part / HISTORY
    history.mkdir()
    write_history(history, run.history)
    stored = StoredVerdicts(
        RESULTS_VERSION, run.tier, run.outcome, run.reason, run.verdicts, run.precisions, run.dispatched, run.trace_hash
    )
    write_atomically(part / VERDICTS, _readable(stored))
    if run.outcome is Outcome.PASS:
        for name in (WORK, CONTROL):
            shutil.rmtree(part / name, ignore_errors=True)
    os.replace(part, folder)
    remove_owner(folder)
    return folder


def discard_run_folder(part: Path) -> None:
    """Leave nothing of a run that did not take place."""
    shutil.rmtree(part, ignore_errors=True)


def store_run(folder: Path, run: Run) -> Path:
    """Store a run that needed no folder while it ran; otherwise as `close_run_folder`."""
    return close_run_folder(open_run_folder(folder, run.history.plan), folder, run)


def read_run(folder: Path, output: OutputFile | None = None) -> tuple[History, StoredVerdicts]:
    """A stored run, fully checked.

    Args:
        folder: of the run.
        output: its committed output, if that is not in the folder.

    Raises:
        UsageError: it is not whole, or was edited; names file and line.
    """
    plan = read_plan_file(folder / PLAN)
    path = folder / VERDICTS
    raw = _content(path)
    check_version(raw, RESULTS_VERSION, "result", str(path))
    return read_history(folder / HISTORY, plan, output), decode(raw, StoredVerdicts, str(path))


def read_plan(raw: bytes, source: str) -> Plan:
    """A plan from its JSON.

    Raises:
        UsageError: one sentence that names the source and the field.
    """
    check_version(raw, PLAN_VERSION, "plan", source)
    return decode(raw, Plan, source)


def read_plan_file(path: Path) -> Plan:
    """A plan from a file.

    Raises:
        UsageError: it cannot be read or is no plan.
    """
    return read_plan(_content(path), str(path))


def write_plan(path: Path, plan: Plan) -> None:
    """A plan in a form that a person can read and edit."""
    write_atomically(path, _readable(plan))


def write_journal(path: Path, journal: Journal) -> None:
    """The journal as `results.json`."""
    write_atomically(path, _readable(journal))


def read_journal(path: Path) -> Journal:
    """A journal from its file.

    Raises:
        UsageError: it cannot be read, or is of a newer version.
    """
    raw = _content(path)
    check_version(raw, RESULTS_VERSION, "result", str(path))
    return decode(raw, Journal, str(path))


def point_latest(folder: Path) -> None:
    """Let `latest` beside a folder name it, where the platform allows such links."""
    link = folder.with_name(f".{LATEST}.{os.getpid()}")
    with suppress(OSError):
        link.symlink_to(folder.name, target_is_directory=True)
        os.replace(link, folder.with_name(LATEST))


def _readable(value: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value)) + b"\n"


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); name an existing file or run folder.") from error
