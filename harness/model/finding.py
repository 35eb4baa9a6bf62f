"""A finding: one thing that is not as it must be, in four lines that a reader understands first.

What broke, when, why, and what to do next. The engine computes findings; reports only show them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import force_setattr

from holdfast.harness.model.command_line import command_line, within
from holdfast.harness.model.status import Status
from holdfast.harness.model.verdict import Damage, current_clause


def in_words(title: str, name: str) -> str:
    """`consistent cut (CUT)`.

    Args:
        title: of the oracle; empty: it has none.
        name: of the oracle, or `ORACLE/clause`.
    """
    return f"{title} ({name})" if title else name


def oracle_in_words(titles: Mapping[str, str], oracle: str) -> str:
    """The same, where the titles are known by the name of the oracle."""
    return in_words(titles.get(oracle, ""), oracle)


def clause_in_words(titles: Mapping[str, str], oracle: str, clause: str) -> str:
    """`consistent cut (CUT/barrier-once)`."""
    return in_words(titles.get(oracle, ""), f"{oracle}/{clause}")


def oracles_in_words(titles: Mapping[str, str], clauses: Iterable[str]) -> tuple[str, ...]:
    """The oracles of some clauses, each `ORACLE/clause`, once and in order."""
    return tuple(oracle_in_words(titles, each) for each in dict.fromkeys(name.partition("/")[0] for name in clauses))


class Violation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A clause that one run violated.

    Attributes:
        oracle, clause: which.
        title: of the oracle; empty if it has none, or is not known here.
        meaning: the clause in words; empty if its oracle is not known here.
        message: the first anomaly in plain words.
        witness: of the first anomaly, as lines, earliest first.
        at_ms: when it was broken, since the start of the run; None: no event shows the moment.
        times: anomalies of this clause in the run; an oracle names only a few of each.
        more: the others in plain words.
        damage: what it does to a user; None: not known here.
    """

    oracle: str
    clause: str
    meaning: str
    message: str
    witness: tuple[str, ...] = ()
    at_ms: float | None = None
    times: int = 1
    damage: Damage | None = None
    title: str = ""
    more: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "clause", current_clause(self.oracle, self.clause))

    @property
    def name(self) -> str:
        """`ORACLE/clause`."""
        return f"{self.oracle}/{self.clause}"

    @property
    def label(self) -> str:
        """The same beside the title of its oracle, for people."""
        return in_words(self.title, self.name)


class Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `holdfast` command that repeats what was found.

    Attributes:
        verb: such as `replay`.
        path: of a stored run, relative to the folder that holds the folder of the report; empty: it is about none.
        options: such as `--times 5`.
        inside: the folder in which the command finds what it names, relative to the folder of the report; empty: it
            finds that everywhere.
    """

    verb: str
    path: str = ""
    options: tuple[str, ...] = ()
    inside: str = ""

    def line(self, folder: str = "") -> str:
        """The command as it is pasted where the report was made.

        Args:
            folder: the folder that holds the folder of the report, as it is named there; empty: it is that one.
        """
        path = f"{folder.rstrip('/')}/{self.path}" if self.path and folder not in ("", ".") else self.path
        return command_line(self.verb, *([Path(path)] if path else []), *self.options)

    def line_in_report(self) -> str:
        """The command as it is pasted in the folder of the report itself, whatever that is called by now."""
        command = Command(self.verb, self.path.partition("/")[2], self.options).line()
        return within(self.inside, command)


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that was refuted, or that stays open.

    Attributes:
        status: FAIL, ERROR or INCONCLUSIVE.
        what: what broke, with counts and the first culprits.
        when: after which fault, at which checkpoint, at what time of which run.
        why: the earliest violated clause in causal order; for what is open, the cause.
        next: repeats the run; None: there is no run to repeat.
        damage: the worst that the run shows; None: nothing was refuted.
        run: id of the run that shows it.
        at_ms: when the first clause was broken, since the start of the run; None: no event shows the moment.
        cause: the earliest violated clause.
        consequences: the other violated clauses in causal order; missing progress comes last. Behind them, what broke
            first in others of its runs, and in none without its cause.
        runs: ids of further runs that show the same.
        rules: rules that it refutes or keeps open.
        cases: `CASE on TIER` of the cases in which it was found.
        setting: what the run was, in words: job, parallelism and options; empty: no run shows it.
        needs: the faults that it needs, or any of them, in words; empty: none, or that was not tried.
    """

    status: Status
    what: str
    when: str
    why: str
    next: Command | None = None
    damage: Damage | None = None
    run: str = ""
    at_ms: float | None = None
    cause: Violation | None = None
    consequences: tuple[Violation, ...] = ()
    runs: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    setting: str = ""
    needs: tuple[str, ...] = ()


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True, order=True):
    """Failures with the same signature are one finding, in every certificate and from night to night.

    Attributes:
        clause: the clause that was violated first, as `ORACLE/clause`; the id of a rule where no run shows which.
        damage: what that does to a user, such as `data loss`; empty where no clause is known.
        system: with variant.
    """

    clause: str
    damage: str
    system: str

    def __str__(self) -> str:
        """As it stands in reports and in waivers."""
        return f"{self.label} in {self.system}"

    @property
    def label(self) -> str:
        """The same without the system."""
        return f"{self.clause} ({self.damage})" if self.damage else self.clause


def signature_of(finding: Finding, system: str) -> Signature:
    """The signature of what was refuted on a system."""
    if finding.cause is None:
        return Signature(", ".join(finding.rules), "", system)
    return Signature(finding.cause.name, finding.cause.damage.value if finding.cause.damage else "", system)
