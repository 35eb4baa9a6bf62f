"""The return values of a system are checked where they come in: one of another type than its contract is an error of
the system, not of the code that would fail on it later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.foreign import WrongAnswer
from holdfast.harness.model.capability import Claims, Evidence
from holdfast.harness.model.case import Tier
from holdfast.harness.model.configuration import EffectiveConfiguration
from holdfast.harness.model.events import AnyEvent, Event
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.records import InputLog, Output
from holdfast.harness.spi.controls import Controls
from holdfast.harness.spi.system import (
    ConfigurationAware,
    Deployment,
    GateReached,
    OptionAccount,
    Recording,
    System,
)
from holdfast.harness.spi.words import text_of, words_of

AnswerT = TypeVar("AnswerT")
_LENGTH = 80
_DEPLOYMENT = ("controls", "now_ms", "advance", "record", "feed_markers", "drained", "stop", "close")


def require_answers(system: System) -> None:
    """Refuse what a system declares of itself where it is of another type than its contract.

    Raises:
        WrongAnswer: see above.
    """
    _require(system.name, _is_text(system.name), "name", "a text")
    _require(system.profile, _is_text(system.profile), "profile", "a text")
    able = system.capabilities
    by_tier = isinstance(able, Mapping) and all(
        isinstance(tier, Tier) and isinstance(each, frozenset | set) and all(map(_is_text, each))
        for tier, each in able.items()
    )
    _require(able, by_tier, "capabilities", "by Tier, a frozenset of texts")
    gates, supplied = system.gates, system.supplied_by_author
    _require(gates, isinstance(gates, frozenset | set) and all(map(_is_text, gates)), "gates", "a frozenset of texts")
    in_texts = isinstance(supplied, tuple | list) and all(map(_is_text, supplied))
    _require(supplied, in_texts, "supplied_by_author", "a tuple of texts")
    evidence_of(system)


def claims_of(system: System, plan: Plan) -> Claims:
    """What a system claims under a plan; errors as of require_answers."""
    claims: Claims = _valid(_called(system.claims, plan), Claims, "claims")
    return claims


def account_of(system: System, plan: Plan) -> Sequence[OptionAccount]:
    """Its account of every option of a plan; errors as of require_answers, and what it refuses."""
    reported = _called(system.account, plan)
    _require(
        reported,
        isinstance(reported, Sequence) and not isinstance(reported, str),
        "account",
        "a sequence of OptionAccount",
    )
    return [_valid(each, OptionAccount, "account") for each in reported]


def evidence_of(system: System) -> Mapping[str, Evidence]:
    """By event kind, how it is supplied; errors as of require_answers."""
    global _latest_evidence
    reported = _called(system.evidence)
    answer, looked_at = _latest_evidence
    if reported is answer and reported == looked_at:  # Runs of one system ask for the same constant.
        return reported
    right = isinstance(reported, Mapping) and all(isinstance(each, Evidence) for each in reported.values())
    _require(reported, right and all(map(_is_text, reported)), "evidence", "by event kind, an Evidence")
    _latest_evidence = reported, dict(reported)
    return reported


def configuration_of(system: ConfigurationAware, plan: Plan) -> EffectiveConfiguration:
    """What would be in force for a plan; errors as of require_answers, and what it refuses."""
    reported = _called(system.effective_configuration, plan)
    configuration: EffectiveConfiguration = _valid(reported, EffectiveConfiguration, "effective_configuration")
    return configuration


def answer_of(call: Callable[..., AnswerT], *arguments: Any, kind: type, of: type = object) -> AnswerT:
    """The answer of a call that a system may offer; errors as of require_answers, and its own.

    Args:
        call: of the system.
        arguments: of the call.
        kind: of the answer.
        of: each thing in it, where it holds several.
    """
    reported = _called(call, *arguments)
    each = reported if isinstance(reported, Collection) and not isinstance(reported, str) else ()
    right = isinstance(reported, kind) and all(isinstance(one, of) for one in each)
    allowed = kind.__name__ if of is object else f"{kind.__name__} of {of.__name__}"
    _require(reported, right, getattr(call, "__name__", "a call"), allowed)
    return reported


def deployed(system: System, plan: Plan, inputs: InputLog, tier: Tier, folder: Path | None) -> Deployment:
    """The system as it stands; that of somebody else is looked at in each call. Errors as of System.deploy."""
    deployment = _called(system.deploy, plan, inputs, tier, folder)
    missing = [each for each in _DEPLOYMENT if not (hasattr(type(deployment), each) or hasattr(deployment, each))]
    _require(deployment, not missing, "deploy", f"a Deployment, and it has no {', '.join(missing)}")
    return _Checked(deployment) if registry.strangers_of(system) else deployment


class _Checked(Deployment):
    """A deployment of somebody else."""

    def __init__(self, inner: Deployment) -> None:
        self._inner = inner

    @property
    def controls(self) -> Controls:
        reported = self._inner.controls
        _require(reported, isinstance(reported, Controls), "controls", "Controls")
        return reported

    @property
    def now_ms(self) -> float:
        reported = self._inner.now_ms
        _require(reported, _is_finite(reported), "now_ms", "a number of milliseconds")
        return reported

    def advance(self, until_ms: float) -> Sequence[Event | GateReached]:
        reported = _called(self._inner.advance, until_ms)
        right = isinstance(reported, list | tuple) and all(isinstance(each, Event | GateReached) for each in reported)
        _require(reported, right, "advance", "a sequence of Event and GateReached")
        return reported

    def record(self, event: Event) -> None:
        _called(self._inner.record, event)

    def feed_markers(self) -> None:
        _called(self._inner.feed_markers)

    def drained(self) -> bool:
        reported = _called(self._inner.drained)
        _require(reported, isinstance(reported, bool), "drained", "True or False")
        return reported

    def stop(self, *, audit: bool) -> Recording:
        reported = _called(self._inner.stop, audit=audit)
        _require(reported, isinstance(reported, Recording), "stop", "a Recording")
        _require(reported.output, isinstance(reported.output, Output), "stop", "a Recording whose output is an Output")
        _require(reported.problem, isinstance(reported.problem, str), "stop", "a Recording whose problem is a text")
        for each, kind in (
            (reported.problem, str),
            (reported.job_error, str),
            (reported.wrote_nothing, str),
            (reported.looked, str),
            (reported.unread, str),
            (reported.trace_hash, str),
            (reported.dispatched, int),
            (reported.ordered, bool),
        ):
            _valid(each, kind, "stop")
        nodes = reported.nodes
        in_lists = isinstance(nodes, tuple | list) and all(isinstance(each, Sequence) for each in nodes)
        _require(nodes, in_lists, "stop", "a Recording with the events of each node")
        for node in nodes:
            for event in node:
                _require(event, isinstance(event, Event), "stop", "a Recording of Event")
                _valid(event, AnyEvent, "stop")
        return reported

    def close(self) -> None:
        _called(self._inner.close)


def _called(call: Callable[..., AnswerT], *arguments: Any, **named: Any) -> AnswerT:
    """What a call returns; one that does not take these arguments is not the call of the contract."""
    try:
        return call(*arguments, **named)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise
        raise WrongAnswer(f"cannot be called as its contract says: {error}") from error


def _valid(reported: Any, kind: Any, call: str) -> Any:
    """An answer, all of whose fields are of their types."""
    allowed = kind.__name__ if isinstance(kind, type) else "an event whose fields are of their types"
    if isinstance(kind, type):
        _require(reported, isinstance(reported, kind), call, allowed)
    try:
        _decoder(kind).decode(_ENCODER.encode(reported))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, UnicodeError) as error:
        raise WrongAnswer(f"answered {_shown(reported)} to {call}; allowed is {allowed} ({error})") from error
    return reported


def _decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    if kind not in _DECODERS:
        _DECODERS[kind] = msgspec.msgpack.Decoder(kind)
    return _DECODERS[kind]


_ENCODER = msgspec.msgpack.Encoder()
_DECODERS: dict[Any, msgspec.msgpack.Decoder[Any]] = {}
_latest_evidence: tuple[object, Mapping[str, Evidence]] = (None, {})
"""The last answer that was right, and a copy of it as it was then."""


def _is_text(reported: object) -> bool:
    """Whether it is one that can be stored."""
    return isinstance(reported, str) and text_of(reported) == reported


def _is_finite(reported: object) -> bool:
    try:
        return isinstance(reported, int | float) and math.isfinite(reported)
    except OverflowError:  # A whole number beyond all of those with a point.
        return False


def _require(reported: object, right: bool, call: str, allowed: str) -> None:
    if not right:
        raise WrongAnswer(f"answered {_shown(reported)} to {call}; allowed is {allowed}")


def _shown(reported: object) -> str:
    text = " ".join(words_of(reported, repr).split())
    return f"{type(reported).__name__} {text if len(text) <= _LENGTH else f'{text[:_LENGTH]}...'}"
