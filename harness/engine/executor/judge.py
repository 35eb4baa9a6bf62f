"""From a history to the faults that hit and to verdicts, and from verdicts to one outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from holdfast.harness.engine.site.foreign import foreign
from holdfast.harness.model.capability import Claims, Evidence
from holdfast.harness.model.consequence import FATES_IN_WORDS, FaultFate
from holdfast.harness.model.events import KIND_NAMES, ConnectionsRefused, Event, FaultInjected, FaultStruck
from holdfast.harness.model.history import History, of_the_job
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import CRASHED, Anomaly, Outcome, Verdict, without_clauses
from holdfast.harness.spi.fault import AnyFault
from holdfast.harness.spi.oracle import Oracle
from holdfast.harness.spi.words import LONGEST, words_of


def took_effect(history: History, number: int, fault: AnyFault) -> bool | None:
    """Whether a fault that acted hit what it aimed at; None: it acted too late.

    Two things are needed: its mechanism recorded an effect under the identity of this injection, and the history shows
    what a fault of this kind does. The first is waived where a foreign system carries no identity.

    Args:
        history: of the run.
        number: of the fault in the plan, which is the identity.
        fault: its kind.
    """
    stamped = any(event.stamped for event in history.of(FaultInjected) if event.fault == number)
    if stamped and not any(event.fault == number for event in history.of(FaultStruck)):
        return False
    return fault.landed(history, number)


def is_observable(oracle: Oracle, evidence: Mapping[str, Evidence]) -> bool:
    """Whether a system with this evidence supplies what an oracle needs for any of its clauses."""
    return not missing_evidence(oracle, evidence)


def missing_evidence(oracle: Oracle, evidence: Mapping[str, Evidence], *clauses: str) -> tuple[str, ...]:
    """The event kinds that an oracle needs and a system does not supply.

    Args:
        oracle: which.
        evidence: by event kind, how the system supplies it.
        clauses: what these need beside all others counts, too.
    """
    more = (kind for clause in clauses for kind in _clause_evidence(oracle).get(clause, ()))
    kinds = dict.fromkeys(KIND_NAMES[kind] for kind in (*oracle.evidence, *more))
    return tuple(kind for kind in kinds if evidence.get(kind, Evidence.NONE) is Evidence.NONE)


def _clause_evidence(oracle: Oracle) -> Mapping[str, tuple[type[Event], ...]]:
    found: Mapping[str, tuple[type[Event], ...]] = getattr(oracle, "clause_evidence", {})
    return found


def on_its_word(oracles: Iterable[Oracle], evidence: Mapping[str, Evidence]) -> frozenset[str]:
    """The clauses, as `ORACLE/clause`, that only native reports of the system under test can decide.

    Args:
        oracles: all that judge.
        evidence: by event kind, how the system supplies it.
    """
    return _sight(oracles, evidence).on_its_word


def unclaimed(oracles: Iterable[Oracle], claims: Claims) -> frozenset[str]:
    """The clauses, as `ORACLE/clause`, that are about nothing that a system with these claims promises."""
    return frozenset(
        f"{oracle.name}/{clause}"
        for oracle in oracles
        if (claimed := getattr(oracle, "claimed", None)) is not None
        for clause in oracle.clauses
        if not claimed(clause, claims)
    )


class _Sight:
    """What oracles see of a system; every run of the two has the same.

    Args:
        oracles: all that judge.
        evidence: by event kind, how the system supplies it.

    Attributes:
        unseen: by oracle, its clauses that the system shows nothing of; None: it shows nothing of any.
        on_its_word: see the function.
    """

    def __init__(self, oracles: tuple[Oracle, ...], evidence: Mapping[str, Evidence]) -> None:
        self._oracles, self._evidence = oracles, dict(evidence)
        self.unseen = tuple(
            _unseen(oracle, evidence) if is_observable(oracle, evidence) else None for oracle in oracles
        )
        self.on_its_word = frozenset(
            f"{oracle.name}/{clause}"
            for oracle in oracles
            if not oracle.evidence or any(evidence.get(KIND_NAMES[kind]) is Evidence.NATIVE for kind in oracle.evidence)
            for clause in oracle.clauses.keys() - getattr(oracle, "observed", frozenset())
        )

    def is_of(self, oracles: tuple[Oracle, ...], evidence: Mapping[str, Evidence]) -> bool:
        """Whether it is that of these oracles and this system."""
        return self._oracles is oracles and self._evidence == evidence


_latest = _Sight((), {})


def _sight(oracles: Iterable[Oracle], evidence: Mapping[str, Evidence]) -> _Sight:
    """The latest one, if it fits: it takes as long as some oracles."""
    global _latest
    oracles, sight = tuple(oracles), _latest
    if not sight.is_of(oracles, evidence):
        sight = _latest = _Sight(oracles, evidence)
    return sight


def _unseen(oracle: Oracle, evidence: Mapping[str, Evidence]) -> frozenset[str]:
    return frozenset(clause for clause in _clause_evidence(oracle) if missing_evidence(oracle, evidence, clause))


def judge(
    history: History, oracles: Iterable[Oracle], evidence: Mapping[str, Evidence] | None = None
) -> tuple[Verdict, ...]:
    """The verdict of every oracle that applies. One that raises is inconclusive: it never decides by crashing.

    None where the history is blind: what is missing in it may have happened.

    Args:
        history: of a run.
        oracles: that may judge it.
        evidence: that its system supplies: what that lacks decides nothing; None: all there is.
    """
    if history.end.blind:
        return ()
    verdicts = []
    seen = of_the_job(history)
    oracles = tuple(oracles)
    hidden = (frozenset[str](),) * len(oracles) if evidence is None else _sight(oracles, evidence).unseen
    for oracle, unseen in zip(oracles, hidden, strict=True):
        if unseen is None:
            continue
        judged = history if getattr(oracle, "sees_superseded", False) else seen
        try:
            with foreign(f"oracle {oracle.name}"):
                if oracle.applies(judged):
                    verdict = oracle.judge(judged)
                    verdicts.append(_seen_part(_shortened(verdict), unseen))
        except Exception as error:  # Whatever an oracle raises, the other oracles still judge.
            verdicts.append(
                Verdict(
                    oracle.name, Outcome.INCONCLUSIVE, reason=f"{CRASHED} {type(error).__name__}: {words_of(error)}"
                )
            )
    return tuple(verdicts)


def _shortened(verdict: Verdict) -> Verdict:
    """A verdict whose sentences fill no report: a system may use names of any length."""
    said = (verdict.reason, *verdict.information, *(line for each in verdict.anomalies for line in _lines(each)))
    if max(map(len, said)) <= LONGEST:
        return verdict
    anomalies = (
        replace(each, message=words_of(each.message), witness=tuple(map(words_of, each.witness)))
        for each in verdict.anomalies
    )
    information = tuple(map(words_of, verdict.information))
    return replace(verdict, anomalies=tuple(anomalies), reason=words_of(verdict.reason), information=information)


def _lines(anomaly: Anomaly) -> tuple[str, ...]:
    return (anomaly.message, *anomaly.witness)


def _seen_part(verdict: Verdict, unseen: frozenset[str]) -> Verdict:
    """A verdict without the clauses that the system shows nothing of. One that then passes by nothing decides nothing,
    and neither does one that an oracle passed by nothing itself."""
    if verdict.outcome is Outcome.PASS and not any(verdict.checked.values()):
        return without_clauses(verdict, unseen)
    if not unseen:
        return verdict
    decided = {*verdict.checked, *(anomaly.clause for anomaly in verdict.anomalies)}
    return without_clauses(verdict, unseen) if unseen & decided else verdict


def outcome_of(history: History, verdicts: tuple[Verdict, ...]) -> tuple[Outcome, str]:
    """The outcome of a run with the cause of an inconclusive one.

    Where others may have reached into a service, nothing is known. Else FAIL wins over everything: safety is judged
    even where a fault missed. Then these make a run inconclusive: a problem of the harness, a fault that never acted or
    never landed, state that could not be read back, an inconclusive oracle, or no oracle that decided anything.
    """
    for event in history.of(ConnectionsRefused):
        if event.link:
            came = plural(event.connections, "connection")
            return Outcome.INCONCLUSIVE, (
                f"{came} to {event.link} came from processes that are not of the run, and may have reached the service "
                "itself: keep others away from its port, and repeat the run."
            )
    if any(verdict.outcome is Outcome.FAIL for verdict in verdicts):
        return Outcome.FAIL, ""
    if history.end.problem:
        return Outcome.INCONCLUSIVE, history.end.problem
    for index, fate in enumerate(history.end.fault_fates):
        if fate is not FaultFate.LANDED:
            trouble = history.end.fault_troubles[index]
            what = f"{FATES_IN_WORDS[fate]}: {trouble}" if trouble else FATES_IN_WORDS[fate]
            return Outcome.INCONCLUSIVE, f"faults[{index}] ({history.plan.faults[index].kind}) {what}"
    if history.end.unread:
        return Outcome.INCONCLUSIVE, f"stored state was not compared: {history.end.unread}"
    for verdict in verdicts:
        if verdict.outcome is Outcome.INCONCLUSIVE and not verdict.had_nothing_to_decide:
            return Outcome.INCONCLUSIVE, f"{verdict.oracle}: {verdict.reason}"
    if any(verdict.outcome is Outcome.PASS for verdict in verdicts):
        return Outcome.PASS, ""
    return Outcome.INCONCLUSIVE, "no oracle had anything to decide"
