"""The folder of a certificate from somebody else, as it is read: nothing in it is trusted, and nothing is unbounded."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from holdfast.harness.engine.artefacts.files import inside, require_folder, require_regular
from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.certification.result_log import Logged, LoggedCase, LoggedCheck, LoggedRun, LogHeader
from holdfast.harness.engine.certification.run_store import RUNS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Journal
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.outside_files import OutsideFileError, PackedLines
from holdfast.harness.spi.system import System

RESULTS = "results.json"
RESULTS_LIMIT_BYTES = 64 * 2**20
Key = tuple[str, Tier]
"""Case and tier."""


class SentCertificate:
    """Attributes:
        folder: of the certificate.
        journal: its `results.json`.
        log: by case and tier, what was written when it was over; empty where there is no log.
        checks: by name of a request, the checks of kits.
        undigested: ids of the runs of cases that an interruption ended; what went on later made a digest of its own.

    Args:
        folder: as the user named it.

    Raises:
        UsageError: it is no certificate, or something in it is no regular file, too large or not whole.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        if not (self.folder / RESULTS).is_file():
            raise UsageError(f"{folder}: there is no {RESULTS} in it; name the folder of a certificate.")
        self.journal = _journal(self.folder / RESULTS)
        self.log: dict[Key, list[Logged]] = {}
        self.checks: dict[str, list[KitCheck]] = {}
        self.undigested: set[str] = set()
        begun: dict[Key, list[str]] = {}
        for line in _lines(self.folder):
            if isinstance(line, LoggedCheck):
                self.checks.setdefault(line.kit, []).append(line.check)
            elif isinstance(line, LogHeader):
                self.undigested.update(run for runs in begun.values() for run in runs)
                begun.clear()
            else:
                key = line.result.case, line.result.tier
                self.log.setdefault(key, []).append(line)
                if isinstance(line, LoggedRun):
                    begun.setdefault(key, []).append(line.result.id)
                else:
                    begun.pop(key, None)

    def runs_of(self, key: Key) -> list[LoggedRun]:
        """The runs of a case, in the order in which they ended."""
        return [each for each in self.log.get(key, ()) if isinstance(each, LoggedRun)]

    def histories_of(self, key: Key) -> str:
        """The digests over the stored runs of a case, one for each time that it was begun."""
        ended = [each.histories for each in self.log.get(key, ()) if isinstance(each, LoggedCase)]
        return ended[-1] if ended else ""

    def part(self, report: str) -> Journal:
        """The journal of a part, by the path of its report.

        Raises:
            UsageError: there is none, or the path leads elsewhere.
        """
        names = Path(report).parts
        if len(names) != 3:
            raise UsageError(f"{self.folder}: {report!r} is no report of a part.")
        parts = require_folder(self.folder / inside(self.folder, names[0]).name)
        return _journal(require_folder(inside(parts, names[1])) / RESULTS)

    def run_folder(self, run: str) -> Path:
        """The folder of a stored run.

        Raises:
            UsageError: its name leads out of the folder, or it is none.
        """
        return require_folder(inside(require_folder(self.folder / RUNS), run))


class Judged:
    """What this installation knows of the system of a certificate.

    Args:
        journal: of the certificate.
        trust: code may be imported that no installed package registers.

    Attributes:
        system: None: it is not known, for `why_not`.
        why_not: one sentence without a full stop.
        evidence: by event kind; of a system that is not known, what the certificate states.
    """

    def __init__(self, journal: Journal, *, trust: bool) -> None:
        self.system: System | None = None
        self.why_not = ""
        if registry.needs_trust(journal.system, repeats=True) and not trust:
            self.why_not = f"system {journal.system!r} is not registered here, and its code is not run without --trust"
        else:
            try:
                self.system = registry.system(journal.system)
            except UsageError as error:
                self.why_not = str(error).rstrip(".")
        known = {each.value for each in Evidence}
        stated = {kind: Evidence(how) for kind, how in journal.evidence.items() if how in known}
        self.evidence = stated if self.system is None else dict(self.system.evidence())


def _journal(path: Path) -> Journal:
    size = require_regular(path).stat().st_size if path.exists() else 0
    if size > RESULTS_LIMIT_BYTES:
        raise UsageError(f"{path}: {size:,} bytes long, allowed are {RESULTS_LIMIT_BYTES:,}: it is no certificate.")
    return read_journal(path)


def _lines(folder: Path) -> Iterator[LogHeader | Logged | LoggedCheck]:
    """The complete lines of a log: one whose writer was killed ends in the middle of a line."""
    decoder = msgspec.json.Decoder(LogHeader | LoggedRun | LoggedCase | LoggedCheck)
    lines = PackedLines()
    for path in sorted(folder.glob("results-*.jsonl.gz")):
        try:
            for line in lines.of(path):
                yield decoder.decode(line)
        except OutsideFileError as error:
            raise UsageError(f"{path}: {error}.") from error
        except (OSError, zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise UsageError(f"{path}: cannot be read ({error}); ask the sender for it again.") from error
