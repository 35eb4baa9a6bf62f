"""The folder of a night, and nights that are stored.

nights/DATE[-n]/begun.json     which night it is; gone when the night is complete
nights/DATE[-n]/night.json     the record, also of an interrupted night
nights/DATE[-n]/SYSTEM/        the certificate of a system, with its runs and the log of its results
nights/DATE[-n]/SYSTEM/system.json   its part of the record, once it is over
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Collection, Iterable
from itertools import count
from pathlib import Path

from holdfast.harness.engine.artefacts.decode import check_version, decode
from holdfast.harness.engine.artefacts.files import make_folder, read_content, write_readable
from holdfast.harness.engine.artefacts.journal_file import read_journal
from holdfast.harness.engine.artefacts.owner import claim, remove_owner
from holdfast.harness.engine.artefacts.safe_path import require_folder
from holdfast.harness.engine.artefacts.sweep import sweep
from holdfast.harness.engine.certification.begun import Begun, code_of, end_begun, read_begun, write_begun
from holdfast.harness.engine.certification.run_store import RUNS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.nights.record import system_night
from holdfast.harness.engine.nights.settings import Settings
from holdfast.harness.model.night import NIGHT_VERSION, Night, SystemNight

NIGHT, SYSTEM, RESULTS = "night.json", "system.json", "results.json"
_ODD = re.compile(r"[^A-Za-z0-9._+-]+")


class NightFolder:
    """The folder that a night fills; a context manager, because no other night may go on in it.

    Attributes:
        path: of the folder.
        started: ISO 8601 in UTC; of the first invocation.
        resumed: whether an interrupted night goes on here.
    """

    def __init__(self, out: Path, name: str, identity: str, now: str) -> None:
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        for path in (out / each for each in names):
            begun = read_begun(path)
            self.resumed = begun is not None and begun.identity == identity and claim(path)
            if self.resumed or _made(path):
                break
        self.path = path
        self.started = begun.started if begun is not None and self.resumed else now
        if not self.resumed:
            claim(path)
            write_begun(path, Begun(identity=identity, started=now))

    def __enter__(self) -> NightFolder:
        return self

    def __exit__(self, *_: object) -> None:
        remove_owner(self.path)

    def of(self, system: str) -> Path:
        return self.path / folder_name(system)

    def finished(self, system: str) -> SystemNight | None:
        """What an earlier invocation found on a system, if it came to the end of it."""
        path = self.of(system) / SYSTEM
        return decode(read_content(path), SystemNight, str(path)) if path.is_file() else None

    def finish(self, night: SystemNight) -> None:
        """A system is over."""
        write_readable(self.of(night.system) / SYSTEM, night)

    def write(self, night: Night, *, complete: bool) -> None:
        """The record; one that is not complete goes on later."""
        write_readable(self.path / NIGHT, night)
        if complete:
            end_begun(self.path)


def folder_name(system: str) -> str:
    """The name of a system as that of a folder; what cannot stand in one is told apart by a digest."""
    name = _ODD.sub("-", system).strip("-.")
    return name if name == system else f"{name}-{hashlib.sha256(system.encode()).hexdigest()[:6]}"


def _made(folder: Path) -> bool:
    """Whether it was made now, and by us: several nights may begin at the same time."""
    if folder.exists():
        return False
    try:
        make_folder(folder)
    except UsageError:
        if folder.is_dir():
            return False
        raise
    return True


def identity_of(settings: Settings, seed: int) -> str:
    """Another one wherever results would not belong together."""
    sites, environment = settings.sites, settings.environment
    requested = (settings.systems, settings.tiers, settings.budget_s, sites, environment, seed)
    digest = hashlib.sha256(repr(requested).encode())
    for name in settings.systems:
        digest.update(code_of(name).encode())
    return digest.hexdigest()


def tidy(folder: Path, kept: Iterable[str], named: Collection[str], *, trust: bool = False) -> None:
    """End what a killed harness left in the folder of a certificate, and remove stored runs that no log names. The
    folder may be somebody else's: no link is followed, and what is no folder stays.

    Args:
        folder: of the certificate, which this process has claimed.
        kept: names of the runs that stay.
        named: systems that the user has named.
        trust: run the code of any other system, too.

    Raises:
        UsageError: `runs` leads elsewhere, or as of sweep.
    """
    runs, known = require_folder(folder / RUNS), frozenset(kept)
    list(sweep(folder, trust=trust, named=named, claimed=True))
    for path in runs.iterdir() if runs.is_dir() else ():
        if path.name not in known and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)


def read_night(path: Path) -> Night:
    """A night from its file.

    Raises:
        UsageError: it cannot be read, or is of a newer version.
    """
    raw = read_content(path)
    check_version(raw, NIGHT_VERSION, "night", str(path))
    return decode(raw, Night, str(path))


def read_nights(folder: Path) -> tuple[Night, ...]:
    """Every night in a folder, the oldest first.

    Raises:
        UsageError: there is none, or one cannot be read.
    """
    found = [read_night(path) for path in sorted(folder.glob(f"*/{NIGHT}")) if not path.parent.is_symlink()]
    if not found:
        raise UsageError(f"{folder}: no night is in it; name the folder in which holdfast nightly writes nights.")
    return tuple(sorted(found, key=lambda each: each.started))


def read_comparable(path: Path) -> tuple[SystemNight, ...]:
    """The systems of a night or of a certificate, from its folder, its `night.json` or its `results.json`.

    Raises:
        UsageError: it is neither, or cannot be read.
    """
    if path.is_dir():
        file = next((path / name for name in (NIGHT, RESULTS) if (path / name).is_file()), None)
        if file is None:
            raise UsageError(
                f"{path}: it holds neither {NIGHT} nor {RESULTS}; name the folder of a night or a certificate."
            )
        path = file
    if path.name == NIGHT:
        return read_night(path).systems
    return (system_night(read_journal(path)),)
