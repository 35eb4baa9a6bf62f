"""What is certified, behind something that looks at every answer: its type, and whether it stays what it was.

The types are those of the SPI, read from its protocols. What an answer is made of, such as a table or a writer, is
looked at in the same way. What is handed in as a list is emptied when the call has returned.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from holdfast.suites.certify.check import Violation
from holdfast.suites.certify.excerpt import excerpt, unlike

PartT = TypeVar("PartT")
KEPT = 4
"""So many answers are kept, and looked at once more when there are later ones."""
MOST_ITEMS = 64
"""Of a longer answer only the first ones are looked at again."""
_HERE = __file__
_SIMPLE = (bytes, str, int, float, bool)


class _Kept(NamedTuple):
    """An answer, and what it was when it came."""

    call: str
    arguments: tuple[Any, ...]
    answer: Any
    image: Any


class Answers:
    """Those of one bench.

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
            arguments = ", ".join(excerpt(repr(each)) for each in kept.arguments)
            was, shown = unlike(kept.image, now)
            raise Violation(
                self.rule,
                f"what {kept.call}({arguments}) returned was changed by a later call: it was {was} and is {shown}; an "
                "answer stays what it is.",
            )

    def wrong(self, call: str, seen: object, expected: str) -> Violation:
        """An answer is of no type that the contract allows."""
        kind = "" if seen is None else f", a {type(seen).__name__}"
        return Violation(self.rule, f"{call}() returned {excerpt(repr(seen))}{kind}; {expected} is right.")


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
        except Exception as error:
            if isinstance(error, TypeError) and (error.__traceback__ is None or error.__traceback__.tb_next is None):
                raise Violation(
                    self.answers.rule, f"{name}() cannot be called as its contract says: {error}."
                ) from error
            raise
        for each in given:
            if type(each) is list and each is not answer:
                each.clear()
        seen = looks(self.answers, name, answer)
        self.answers.keep(name, arguments, answer)
        return seen

    return call


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
        return _mapping(_looks(arguments[1]))
    if origin is tuple:
        return _fields(tuple, [_looks(each) for each in arguments if each is not ...])
    if not isinstance(expected, type) or origin is not None or expected is types.NoneType:
        return lambda answers, call, answer: answer
    if getattr(expected, "_is_protocol", False):
        return _part(expected)
    if issubclass(expected, msgspec.Struct):
        return _struct(expected)
    if issubclass(expected, tuple):
        return _fields(expected, [_looks(each) for each in get_type_hints(expected).values()])
    return _instance(expected)


def _instance(expected: type) -> Looks:
    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if not isinstance(answer, expected):
            raise answers.wrong(call, answer, expected.__name__)
        return answer

    return looks


def _struct(expected: type[msgspec.Struct]) -> Looks:
    """Fields are looked at as answers are."""
    is_one = _instance(expected)
    hints = get_type_hints(expected)
    fields = [(name, _looks(hints[name])) for name in expected.__struct_fields__]

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        is_one(answers, call, answer)
        for name, field in fields:
            field(answers, f"{call}().{name} of", getattr(answer, name))
        return answer

    return looks


def _fields(expected: type, fields: Sequence[Looks]) -> Looks:
    """Of a tuple, with names or without."""
    is_one = _instance(expected)

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        is_one(answers, call, answer)
        for field, each in zip(fields, answer, strict=False):
            field(answers, call, each)
        return answer

    return looks


def _mapping(of: Looks) -> Looks:
    is_one = _instance(Mapping)

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        for each in is_one(answers, call, answer).values():
            of(answers, call, each)
        return answer

    return looks


def _either(others: Sequence[Any], *, none: bool) -> Looks:
    known = [_looks(each) for each in others]

    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if answer is None and none:
            return answer
        return known[0](answers, call, answer) if len(known) == 1 else answer

    return looks


def _sequence(of: Looks) -> Looks:
    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if not isinstance(answer, Sequence) or isinstance(answer, str | bytes | memoryview | bytearray):
            raise answers.wrong(call, answer, "a sequence")
        for each in answer:
            of(answers, call, each)
        return answer

    return looks


def _iterator(of: Looks) -> Looks:
    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if not isinstance(answer, Iterable):
            raise answers.wrong(call, answer, "an iterator")
        return _each(answers, call, iter(answer), of)

    return looks


def _each(answers: Answers, call: str, items: Iterator[Any], of: Looks) -> Iterator[Any]:
    for item in items:
        yield of(answers, call, item)


def _part(contract: type) -> Looks:
    def looks(answers: Answers, call: str, answer: Any) -> Any:
        if answer is None:
            raise answers.wrong(call, answer, f"a {contract.__name__}")
        return answers.of(answer, contract)

    return looks


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
    return answer
