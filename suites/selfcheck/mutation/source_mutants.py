"""The syntactic mutants of a source tree, each with an identity that outlives a move of its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

MODULE_LEVEL = "<module>"
OPERATORS = (
    "holdfast/DropStatement",
    "holdfast/DropElement",
    "holdfast/DropOperand",
    "holdfast/SwapMembership",
    "core/AddNot",
    "core/ExceptionReplacer",
    "core/NumberReplacer",
    "core/ReplaceAndWithOr",
    "core/ReplaceOrWithAnd",
    "core/ReplaceTrueWithFalse",
    "core/ReplaceFalseWithTrue",
    "core/ReplaceBreakWithContinue",
    "core/ReplaceContinueWithBreak",
    "core/ZeroIterationForLoop",
    "core/ReplaceUnaryOperator_Delete_Not",
    "core/ReplaceUnaryOperator_Delete_USub",
    *(
        f"core/ReplaceComparisonOperator_{pair}"
        for pair in (
            "Eq_NotEq", "Eq_LtE", "Eq_GtE", "NotEq_Eq", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt",
            "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt", "Is_IsNot", "IsNot_Is",
        )
    ),
    *(
        f"core/ReplaceBinaryOperator_{pair}"
        for pair in ("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "BitOr_BitAnd",
                     "BitAnd_BitOr", "Pow_Mul", "LShift_RShift")
    ),
)  # fmt: skip
"""One or two replacements of each operator: of the thirteen for `+` most are an error in the first step."""


class SourceMutant(msgspec.Struct, frozen=True):
    """One change of one file.

    Attributes:
        file: path below the package `holdfast`, such as `fixtures/reference/protocol/tasks/task.py`.
        function: qualified name of the function that is changed.
        operator: as cosmic-ray names it.
        occurrence: which of the operator's positions in this function.
        line, column: where that is today.
        place: which of the operator's positions in the file, as cosmic-ray counts.
    """

    file: str
    function: str
    operator: str
    occurrence: int
    line: int
    column: int
    place: int

    @property
    def identity(self) -> str:
        """Stable while the function keeps its name and its other positions of the operator."""
        return f"{self.file}::{self.function}::{self.operator}#{self.occurrence}"

    @property
    def module(self) -> str:
        """Its dotted name."""
        return "holdfast." + self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def source(self, original: str) -> str:
        """The mutated text of the file."""
        mutated = mutate_code(original, get_operator(self.operator)(), self.place)
        assert mutated is not None, f"{self.identity} is not there"
        return str(mutated)


def mutants_of(root: Path, folder: str, operators: Iterable[str] = OPERATORS) -> list[SourceMutant]:
    """All mutants of the files of a folder.

    Args:
        root: of the source tree, above `fixtures`.
        folder: below it.
        operators: by cosmic-ray's names.
    """
    made = [get_operator(name)() for name in operators]
    return [
        mutant
        for path in sorted((root / folder).rglob("*.py"))
        for mutant in _of_file(path.relative_to(root).as_posix(), path.read_text(), tuple(operators), made)
    ]


def sample(mutants: Iterable[SourceMutant], size: int, seed: int) -> list[SourceMutant]:
    """A random sample with at most one mutant of each position in the source, so that no position weighs more because
    more operators fit it; a larger one of the same seed begins with a smaller one."""

    def rank(mutant: SourceMutant) -> bytes:
        return blake2b(f"{seed}:{mutant.identity}".encode(), digest_size=16).digest()

    chosen: dict[tuple[str, int, int], SourceMutant] = {}
    for mutant in sorted(mutants, key=rank):
        chosen.setdefault((mutant.file, mutant.line, mutant.column), mutant)
    return list(chosen.values())[:size]


def _of_file(file: str, text: str, names: tuple[str, ...], operators: list[Any]) -> Iterator[SourceMutant]:
    tree = get_ast(text)
    places: Counter[str] = Counter()
    occurrences: Counter[tuple[str, str]] = Counter()
    for node in ast_nodes(tree):
        for name, operator in zip(names, operators, strict=True):
            for (line, column), _ in operator.mutation_positions(node):
                place = places[name]
                places[name] += 1
                leaf = tree.get_leaf_for_position((line, column))
                if _is_declaration(leaf):
                    continue
                function = _function(leaf)
                occurrence = occurrences[function, name]
                occurrences[function, name] += 1
                yield SourceMutant(file, function, name, occurrence, line, column, place)


def _function(leaf: Any) -> str:
    """The qualified name of the outermost function around, or of the class."""
    names: list[str] = []
    node = leaf
    while node is not None:
        if node.type == "funcdef":
            names = [node.name.value]
        elif node.type == "classdef":
            names.insert(0, node.name.value)
        node = node.parent
    return ".".join(names) or MODULE_LEVEL


def _is_declaration(leaf: Any) -> bool:
    """Whether it is a part of a type, which nothing evaluates, or of what a class is declared with."""
    node, parent = leaf, leaf.parent
    while parent is not None:
        if parent.type == "annassign" and node is parent.children[1]:
            return True
        if parent.type == "tfpdef" and node is parent.children[2]:
            return True
        if parent.type == "funcdef" and node is parent.annotation:
            return True
        if parent.type == "classdef" and node is not parent.children[-1]:
            return True
        node, parent = parent, parent.parent
    return False
