"""The sweep: what a harness that was killed left behind is undone, ended and removed.

Only folders with a record of ours, that belong to the user, are touched; no link is followed.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.files import read_content, require_regular
from holdfast.harness.engine.artefacts.json_files import read_plan_file
from holdfast.harness.engine.artefacts.owner import owner_elsewhere, owner_lives, owner_of
from holdfast.harness.engine.artefacts.stored_run import part_folders
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run_folder import CONTROL, PLAN, UNDO, WORK
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import foreign, in_words
from holdfast.harness.lease import end_left, is_own_folder
from holdfast.harness.spi.fault import UndoRecord
from holdfast.harness.spi.system import Sweeper


def unfinished(root: Path, *, claimed: bool = False) -> list[Path]:
    """Folders of runs whose harness is gone; `claimed` as of owner_lives."""
    return sorted(
        folder
        for folder in part_folders(root)
        if is_own_folder(folder) and owner_of(folder) is not None and not owner_lives(folder, claimed=claimed)
    )


def sweep(root: Path, *, trust: bool, named: Collection[str] = (), claimed: bool = False) -> Iterator[str]:
    """Undo, end and remove what is left below an output folder; yields what it did, one sentence each.

    Args:
        root: where to look.
        trust: run the code of systems that are not registered.
        named: of these systems that code may be run in any case, as the user has named them.
        claimed: as of owner_lives.

    Raises:
        UsageError: last of all, if there is a run whose system is neither registered nor trusted; it stays.
    """
    refusal: UsageError | None = None
    for folder in () if claimed else filter(owner_elsewhere, part_folders(root)):
        yield (
            f"{folder}: it stays, as another container or machine may work there; if that one is gone, go on with this "
            "certification by --resume."
        )
    for folder in unfinished(root, claimed=claimed):
        try:
            name = _system_of(folder)
            if name and not trust and name not in named and registry.needs_trust(name, repeats=False):
                refusal = UsageError(
                    f"{folder}: it stays, as to clean up the code of its system {name!r} would be run, which no "
                    "installed package registers: look at that code, then add --trust."
                )
                continue
            yield from _swept(folder, name)
        except Exception as error:  # Its adapter broke, and only that knows what else is left; others are swept.
            yield f"{folder}: it stays, as its system cannot clean up: {in_words(error)}."
            continue
        shutil.rmtree(folder, ignore_errors=True)
        yield f"{folder}: {'cannot be removed' if folder.exists() else 'removed'}."
    if refusal is not None:
        raise refusal


def sweep_lost(root: Path, system: str = "") -> None:
    """Sweep after a process of ours was lost while it ran third-party code. That code may have written anything below
    the folder: no file there chooses whose code cleans up, and nothing is raised. What it wrote can only make a folder
    stay, for `holdfast sweep`.

    Args:
        root: where to look.
        system: whose runs are there, as this process knows by itself; empty: of several, and processes are ended by
            their labels alone.
    """
    own: Collection[str] = ()
    with suppress(Exception):  # It is not there any more.
        own = names_of(system) if system else ()
    for folder in unfinished(root):
        name = _system_of(folder)
        if own and name and name not in own:
            continue  # An earlier harness left it.
        try:
            list(_swept(folder, system))
        except Exception:  # Only its adapter knows what else is left.
            continue
        if not any(each.is_mount() for each in folder.rglob("*")):
            shutil.rmtree(folder, ignore_errors=True)


def names_of(system: str) -> frozenset[str]:
    """What a system may be called in the plans of its runs, by the name that the user gave it."""
    return frozenset({system, registry.system(system).name})


def _system_of(folder: Path) -> str:
    """The name of the system that ran there; empty if it is unknown."""
    try:
        return read_plan_file(require_regular(folder / PLAN)).system
    except UsageError:
        return ""


def _swept(folder: Path, name: str) -> Iterator[str]:
    """End what carries the label of a run, and have its adapter see to the rest, because only that knows of it."""
    if ended := end_left(folder.resolve()):
        yield f"{folder}: {ended}."
    try:
        system = registry.system(name)
    except UsageError as error:
        yield f"{folder}: its system cannot clean up ({error})"
        return
    if not isinstance(system, Sweeper):
        return
    for work in (folder / WORK, folder / CONTROL / WORK):
        if is_own_folder(work.parent) and is_own_folder(work):
            with foreign(f"system {name!r}"):
                sentences = system.sweep(work, _undos(folder))
            for sentence in sentences:
                yield f"{folder}: {sentence}"


def _undos(folder: Path) -> list[UndoRecord]:
    try:
        content = read_content(require_regular(folder / UNDO))
    except UsageError:
        return []  # None was written, or what is there is none of ours.
    undos = []
    for line in BytesIO(content):
        try:
            undos.append(msgspec.json.decode(line, type=UndoRecord))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue  # Torn: the harness died before its fault acted.
    return undos
