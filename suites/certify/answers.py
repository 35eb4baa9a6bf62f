"""What is certified, behind something that looks at every answer: its type, and whether it stays what it was.

The types are those of the SPI, read from its protocols. What an answer is made of, such as a table or a writer, is
looked at in the same way. What is handed in as a list is emptied when the call has returned.

The kit goes on with values of exactly these types: one of a type derived from them could say of itself that it equals
whatever is right. What kits and Hypothesis raise to end a check or a program is no answer of a part.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import islice
from pathlib import Path
from threading import Lock
from traceback import walk_tb
from typing import Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from hypothesis.errors import HypothesisException, StopTest

from holdfast.harness.spi.words import text_of
from holdfast.suites.certify.check import CannotTry, Violation, excerpt, unlike
from holdfast.suites.certify.time_limit import Overdue

PartT = TypeVar("PartT")
KEPT = 4
"""So many answers are kept, and looked at once more when there are later ones."""
MOST_ITEMS = 64
"""Of a longer answer only the first ones are looked at again."""
NUMBERS = range(-(1 << 63), 1 << 64)
"""What is stored has 64 bits, with a sign or without."""
_HERE = __file__
_KITS = str(Path(__file__).parent)
_SIMPLE = (bytes, str, int, float, bool)
_EXACT: Mapping[type, Callable[[Any], Any]] = {
    bytes: lambda answer: bytes.__getitem__(answer, slice(None)),
    str: lambda answer: str.__getitem__(answer, slice(None)),
    int: int.__pos__,
    float: float.__pos__,
}
"""By type, what makes a value of exactly that type of one that is derived from it."""
_OF_KITS = (CannotTry, HypothesisException, StopTest, Overdue)


class _Kept(NamedTuple):
    """An answer, and what it was when it came."""

    call: str
    arguments: tuple[Any, ...]
    answer: Any
    image: Any


class Answers:
    """The checked answers of the parts of one bench.

    Attributes:
        rule: that is broken by a wrong one.
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self._kept: deque[_Kept] = deque()
        self._lock = Lock()

    def of(self, part: PartT, contract: type) -> PartT:
        """A part whose answers are looked at.

        Args:
            part: that is certified.
            contract: the protocol of the SPI that it implements.
        """
        return cast("PartT", _wrapper(contract)(part, self))

    def made(self, factory: Callable[..., PartT], contract: type, *given: object) -> PartT:
        """Call a factory, and check that what it returns satisfies a contract.

        Args:
            factory: that is certified.
            contract: as of `of`.
            given: to the factory.
        """
        try:
            return self.of(factory(*given), contract)
        except _OF_KITS as error:
            raise self.raised("the factory", error) from error

    def raised(self, call: str, error: BaseException) -> BaseException:
        """What a call raised that only the kit itself may raise; a violation, if the kit did not."""
        is_ours = [frame.f_code.co_filename.startswith(_KITS) for frame, _ in walk_tb(error.__traceback__)]
        if all(is_ours) or any(is_ours[is_ours.index(False) :]):
            return error  # Of the kit itself, or of what it handed in.
        return Violation(
            self.rule, f"{call} raised {type(error).__name__}, with which a kit ends a check or a program."
        )

    def keep(self, call: str, arguments: tuple[Any, ...], answer: Any) -> None:
        """An answer came; an earlier one is looked at again."""
        if answer is None or isinstance(answer, _SIMPLE):
            return
        kept = _Kept(call, arguments, answer, _image(answer))
        with self._lock:
            self._kept.append(kept)
            oldest = self._kept.popleft() if len(self._kept) > KEPT else None
        if oldest is not None:
            self._look_again(oldest)

    def look_again(self) -> None:
        """None of the answers that are kept has changed.

        Raises:
            Violation: one has.
        """
        while self._kept:
            self._look_again(self._kept.popleft())

    def _look_again(self, kept: _Kept) -> None:
        if (now := _image(kept.answer)) != kept.image:
            arguments = ", ".join(excerpt(text_of(each, repr)) for each in kept.arguments)
            was, shown = unlike(kept.image, now)
            raise Violation(
                self.rule,
                f"what {kept.call}({arguments}) returned was changed by a later call: it was {was} and is {shown}; an "
                "answer stays what it is.",
            )

    def wrong(self, call: str, seen: object, expected: str) -> Violation:
        """An answer is of no type that the contract allows."""
        kind = "" if seen is None else f", a {type(seen).__name__}"
        return Violation(self.rule, f"{call}() returned {excerpt(text_of(seen, repr))}{kind}; {expected} is right.")


class _Answering:
    """What all wrappers are: anything that the contract does not name is the part's own."""

    def __init__(self, part: Any, answers: Answers) -> None:
        self.certified = part
        self.answers = answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self.certified, name)


def behind(part: object) -> object:
    """The part itself, if its answers are looked at."""
    return part.certified if isinstance(part, _Answering) else part


Looks = Callable[[Answers, str, Any], Any]
"""Looks at an answer of a call, and returns what the kit goes on with."""


@cache
def _wrapper(contract: type) -> type[_Answering]:
    methods = {name: _method(name, each) for name, each in vars(contract).items() if _is_method(name, each)}
    return type(f"Answering{contract.__name__}", (_Answering,), methods)


def _is_method(name: str, member: object) -> bool:
    return isinstance(member, types.FunctionType) and not name.startswith("_")


def _method(name: str, declared: types.FunctionType) -> Callable[..., Any]:
    looks = _looks(get_type_hints(declared)["return"])

    def call(self: _Answering, *arguments: Any, **named: Any) -> Any:
        given = [list(each) if type(each) is list else each for each in arguments]
        try:
            answer = _found(self, name)(*given, **named)
        except _OF_KITS as error:
            raise self.answers.raised(f"{name}()", error) from error
        except Exception as error:
            if isinstance(error, TypeError) and (error.__traceback__ is None or error.__traceback__.tb_next is None):
                raise Violation(
                    self.answers.rule, f"{name}() cannot be called as its contract says: {error}."
                ) from error
            raise
        for each in given:
            if type(each) is list and each is not answer:
                each.clear()
        try:
            seen = looks(self.answers, name, answer)
            self.answers.keep(name, arguments, answer)
        except Exception as error:
            if isinstance(error, (Violation, *_OF_KITS)) or not _is_ours(error):
                raise
            raise Violation(
                self.answers.rule, f"{name}() returned a {type(answer).__name__} that cannot be looked at: {error}."
            ) from error
        return seen

    return call


def _is_ours(error: BaseException) -> bool:
    """Whether no code of a part raised it, but what was done with an answer of one."""
    return all(frame.f_code.co_filename.startswith(_KITS) for frame, _ in walk_tb(error.__traceback__))


def _found(self: _Answering, name: str) -> Callable[..., Any]:
    found = getattr(self.certified, name, None)
    if found is None:
        raise Violation(self.answers.rule, f"{type(self.certified).__name__} has no {name}(), which its contract has.")
    return cast("Callable[..., Any]", found)


@cache
def _looks(expected: Any) -> Looks:
    origin, arguments = get_origin(expected), get_args(expected)
    if origin in (types.UnionType, Union):
        return _either([each for each in arguments if each is not types.NoneType], none=types.NoneType in arguments)
    if origin is Sequence:
        return _sequence(_looks(arguments[0]))
    if origin in (Iterator, Iterable):
        return _iterator(_looks(arguments[0]))
    if origin is Mapping:
        return _mapping(*map(_looks, arguments))
    if origin is frozenset:
        return _set(_looks(arguments[0]))
    if origin is tuple and ... in arguments:
        return _sequence(_looks(arguments[0]), tuple)
    if origin is tuple:
        return _fields(tuple, arguments)
    if not isinstance(expected, type) or origin is not None or expected is types.NoneType:
        return lambda answers, call, answer: answer
    if getattr(expected, "_is_protocol", False):
        return _part(expected)
    if issubclass(expected, msgspec.Struct):
        return _struct(expected)
    if issubclass(expected, tuple):
        return _fields(expected, tuple(get_type_hints(expected).values()))
    return _instance(expected)


def _instance(expected: type) -> Looks:
    exact = _EXACT.get(expected)

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if type(answer) is not expected:
            if not isinstance(answer, expected):
                raise answers.wrong(call, answer, expected.__name__)
            answer = exact(answer) if exact is not None else answer
        if expected is int and answer not in NUMBERS:
            raise answers.wrong(call, answer, "a number of 64 bits")
        return answer

    return looks


def _struct(expected: type[msgspec.Struct]) -> Looks:
    """Fields are looked at as answers are."""
    is_one = _instance(expected)
    hints = get_type_hints(expected)
    fields = [(name, _looks(hints[name])) for name in expected.__struct_fields__]

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        is_one(answers, call, answer)
        was = {name: getattr(answer, name) for name, _ in fields}
        seen = {name: field(answers, f"{call}().{name} of", was[name]) for name, field in fields}
        same = type(answer) is expected and all(seen[name] is was[name] for name in was)
        return answer if same else expected(**seen)

    return looks


def _fields(expected: type, types_of: tuple[Any, ...]) -> Looks:
    """The checks of the fields of a tuple, with names or without."""
    is_one = _instance(expected)
    fields = [_looks(each) for each in types_of]
    simple = [*types_of] if {bytes, str, float}.issuperset(types_of) else None

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if type(answer) is expected and _types(answer) == simple:
            return answer  # There are many rows.
        is_one(answers, call, answer)
        given: tuple[Any, ...] = tuple.__getitem__(answer, slice(None))
        seen = [field(answers, call, each) for field, each in zip(fields, given, strict=False)]
        return tuple.__new__(expected, seen) if len(seen) == len(given) else answer

    return looks


def _types(values: Any) -> list[type]:
    return [type(each) for each in values]


def _mapping(key: Looks, of: Looks) -> Looks:
    is_one = _instance(Mapping)

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        items = is_one(answers, call, answer).items()
        return {key(answers, call, name): of(answers, call, each) for name, each in items}

    return looks


def _set(of: Looks) -> Looks:
    is_one = _instance(frozenset)

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        return frozenset(of(answers, call, each) for each in is_one(answers, call, answer))

    return looks


def _either(others: Sequence[Any], *, none: bool) -> Looks:
    known = [_looks(each) for each in others]

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if answer is None and none:
            return answer
        return known[0](answers, call, answer) if len(known) == 1 else answer

    return looks


def _sequence(of: Looks, exact: type[Sequence[Any]] = Sequence) -> Looks:
    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if not isinstance(answer, exact) or isinstance(answer, str | bytes | memoryview | bytearray):
            raise answers.wrong(call, answer, "a sequence")
        seen = [of(answers, call, each) for each in answer]
        return tuple(seen) if isinstance(answer, tuple) else seen

    return looks


def _iterator(of: Looks) -> Looks:
    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if not isinstance(answer, Iterable):
            raise answers.wrong(call, answer, "an iterator")
        return _each(answers, call, iter(answer), of)

    return looks


def _each(answers: Answers, call: str, items: Iterator[Any], of: Looks) -> Iterator[Any]:
    while True:
        try:
            item = next(items)
        except StopIteration:
            return
        except _OF_KITS as error:
            raise answers.raised(f"the iterator of {call}()", error) from error
        yield of(answers, call, item)


def _part(contract: type) -> Looks:
    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if answer is None:
            raise answers.wrong(call, answer, f"a {contract.__name__}")
        return answers.of(answer, contract)

    return looks


def _exact(answer: Any) -> Any:
    """A simple value, of exactly its type; anything else as it is."""
    for simple, exact in _EXACT.items():
        if isinstance(answer, simple) and not isinstance(answer, Enum):
            return exact(answer)
    return answer


def called(error: BaseException) -> str:
    """The call of the contract during which it was raised, such as `commit()`; empty: none."""
    trace, name = error.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == _HERE and code.co_name == "call":
            name = f"{trace.tb_frame.f_locals['name']}()"
        trace = trace.tb_next
    return name


def _image(answer: Any) -> Any:
    """What an answer is now, in what nobody changes."""
    if isinstance(answer, bytearray | memoryview):
        return bytes(answer)
    if isinstance(answer, list | tuple):
        return tuple(_image(each) for each in answer[:MOST_ITEMS])
    if isinstance(answer, Mapping):
        return {key: _image(each) for key, each in islice(answer.items(), MOST_ITEMS)}
    if isinstance(answer, msgspec.Struct):
        return tuple(_image(getattr(answer, name)) for name in answer.__struct_fields__)
    return _exact(answer)
