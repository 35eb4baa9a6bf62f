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
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.decode import check_version, decode
from holdfast.harness.engine.artefacts.files import make_folder, read_content, write_readable
from holdfast.harness.engine.artefacts.journal_file import read_journal
from holdfast.harness.engine.artefacts.owner import owner_lives, remove_owner, write_owner
from holdfast.harness.engine.artefacts.sweep import sweep
from holdfast.harness.engine.certification.begun import code_of
from holdfast.harness.engine.certification.run_store import RUNS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.nights.record import system_night
from holdfast.harness.engine.nights.settings import Settings
from holdfast.harness.model.night import NIGHT_VERSION, Night, SystemNight

BEGUN, NIGHT, SYSTEM, RESULTS = "begun.json", "night.json", "system.json", "results.json"
_ODD = re.compile(r"[^A-Za-z0-9._+-]+")


class Begun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A night that is not complete. Only the same settings, seed and code (`identity`) go on with it."""

    identity: str
    started: str


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
            begun = _begun(path)
            self.resumed = begun is not None and begun.identity == identity and not owner_lives(path)
            if self.resumed or not path.exists():
                break
        self.path = path
        self.started = begun.started if begun is not None and self.resumed else now
        if not self.resumed:
            make_folder(path)
            write_readable(path / BEGUN, Begun(identity, now))

    def __enter__(self) -> NightFolder:
        write_owner(self.path)
        return self

    def __exit__(self, *_: object) -> None:
        remove_owner(self.path)

    def of(self, system: str) -> Path:
        """The folder of the certificate of a system."""
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
            (self.path / BEGUN).unlink(missing_ok=True)


def folder_name(system: str) -> str:
    """The name of a system as that of a folder; what cannot stand in one is told apart by a digest."""
    name = _ODD.sub("-", system).strip("-.")
    return name if name == system else f"{name}-{hashlib.sha256(system.encode()).hexdigest()[:6]}"


def _begun(folder: Path) -> Begun | None:
    path = folder / BEGUN
    return decode(read_content(path), Begun, str(path)) if path.is_file() else None


def identity_of(settings: Settings, seed: int) -> str:
    """Another one wherever results would not belong together."""
    digest = hashlib.sha256(repr((settings.systems, settings.tiers, settings.budget_s, seed)).encode())
    for name in settings.systems:
        digest.update(code_of(name).encode())
    return digest.hexdigest()


def tidy(folder: Path, kept: Iterable[str]) -> None:
    """End what a killed harness left in the folder of a certificate, and remove stored runs that no log names."""
    list(sweep(folder, trust=True))
    known = frozenset(kept)
    for path in (folder / RUNS).iterdir() if (folder / RUNS).is_dir() else ():
        if path.name not in known:
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
