"""What a run leaves: a folder that is there whole or not at all.

plan.json            what was run
history/             what happened (see history_files)
verdicts.json        tier, outcome, verdicts, trace hash
undo.jsonl           undos, as they were written before their faults acted (real tiers)
work/                what the system under test wrote, logs among it (real tiers, kept where the run did not pass);
                     without its files that are in the history, byte by byte
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from filecmp import cmp
from fnmatch import fnmatch
from pathlib import Path
from stat import S_ISREG

import msgspec

from holdfast.harness.engine.artefacts.files import make_folder, read_content, require_regular, write_readable
from holdfast.harness.engine.artefacts.history_files import MANIFEST, manifest_digest, read_history, write_history
from holdfast.harness.engine.artefacts.json_files import check_version, decode, read_plan_file, write_plan
from holdfast.harness.engine.artefacts.output_file import OutputFile
from holdfast.harness.engine.artefacts.owner import remove_owner, write_owner
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import Run
from holdfast.harness.engine.executor.run_folder import CONTROL, PLAN, WORK
from holdfast.harness.model.case import Tier
from holdfast.harness.model.history import History
from holdfast.harness.model.journal import RESULTS_VERSION
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.verdict import Outcome, Verdict

HISTORY = "history"
VERDICTS = "verdicts.json"
_PART = ".part"
PARTS = f".*{_PART}"
"""What folders of runs that are not over are called."""


class StoredVerdicts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`verdicts.json`.

    Attributes:
        history_sha256: of the manifest of the history, which names all that belongs to that; empty: the run was stored
            by an earlier release, and its manifest is compared with nothing.
    """

    version: int
    tier: Tier
    outcome: Outcome
    reason: str
    verdicts: tuple[Verdict, ...]
    precisions: dict[int, str]
    dispatched: int
    trace_hash: str
    history_sha256: str = ""


def part_folders(root: Path) -> list[Path]:
    """Folders below one of runs that are not over. What goes away meanwhile is left out; `Path.rglob` raises there."""
    return [Path(place, name) for place, names, _ in os.walk(root) for name in names if fnmatch(name, PARTS)]


def open_run_folder(folder: Path, plan: Plan) -> Path:
    """Make the folder in which a run can begin: it holds the plan and gets its real name when the run is over."""
    part = folder.with_name(f".{folder.name}{_PART}")
    make_folder(part)
    try:
        write_owner(part)
        write_plan(part / PLAN, plan)
    except OSError:
        discard_run_folder(part)
        raise
    return part


def close_run_folder(part: Path, folder: Path, run: Run) -> Path:
    """Store a finished run in the folder that it ran in, and give that its real name.

    Args:
        part: the folder that it ran in, see `open_run_folder`.
        folder: its real name; must not exist.
        run: what is stored: history and verdicts. Of a passed run its working files go, of others what the history
            holds, too.

    Returns:
        `folder`.

    Raises:
        OSError: it cannot be written; `part` stays.
    """
    history = part / HISTORY
    history.mkdir()
    write_history(history, run.history)
    stored = StoredVerdicts(
        RESULTS_VERSION,
        run.tier,
        run.outcome,
        run.reason,
        run.verdicts,
        run.precisions,
        run.dispatched,
        run.trace_hash,
        manifest_digest(history),
    )
    write_readable(part / VERDICTS, stored)
    if run.outcome is Outcome.PASS:
        for name in (WORK, CONTROL):
            shutil.rmtree(part / name, ignore_errors=True)
    else:
        _remove_copies(part / WORK, history)
    os.replace(part, folder)
    remove_owner(folder)
    return folder


def _remove_copies(work: Path, history: Path) -> None:
    """Remove the working files that a file of the same name in the history equals, byte by byte."""
    stored = {each.name for each in history.iterdir()}
    for place, _, names in os.walk(work) if not work.is_symlink() else ():
        for name in stored.intersection(names):
            path = Path(place, name)
            with suppress(OSError):  # The copy stays, and does no harm.
                if S_ISREG(path.lstat().st_mode) and cmp(path, history / name, shallow=False):
                    path.unlink()


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
    plan = read_plan_file(require_regular(folder / PLAN))
    path = require_regular(folder / VERDICTS)
    raw = read_content(path)
    check_version(raw, RESULTS_VERSION, "result", str(path))
    stored = decode(raw, StoredVerdicts, str(path))
    history = read_history(folder / HISTORY, plan, output)
    if stored.history_sha256 and stored.history_sha256 != manifest_digest(folder / HISTORY):
        raise UsageError(
            f"{folder / HISTORY / MANIFEST}: the content was edited (SHA-256 differs from {VERDICTS}); record the run "
            "again."
        )
    return history, stored
