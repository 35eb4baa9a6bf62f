"""Operators that cosmic-ray lacks and a protocol of steps and effects needs: what is left out, and membership."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cosmic_ray.operators.operator import Example, Operator
from parso.python.tree import Keyword

Position = tuple[tuple[int, int], tuple[int, int]]


class DropStatement(Operator):  # type: ignore[misc]
    """A call or an assignment does not happen."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "simple_stmt" and _acts(node.children[0]):
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        dropped = node.children[0]
        node.children[0] = Keyword("pass", dropped.start_pos, dropped.get_first_leaf().prefix)
        return node

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return (Example("a.append(1)\n", "pass\n"), Example("a = 1\n", "pass\n"))


class DropElement(Operator):  # type: ignore[misc]
    """A list display, such as one of effects, lacks one of its elements."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        for element in _elements(node):
            yield element.start_pos, element.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        dropped = _elements(node)[index]
        if dropped.parent is node:
            node.children.remove(dropped)
            return node
        children = dropped.parent.children
        place = children.index(dropped)
        del children[place : place + 2]  # with the comma behind it
        if place and place == len(children):
            del children[place - 1]  # or in front of it
        return node

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return (Example("a = [1, *b]", "a = [ *b]"), Example("a = [1, *b]", "a = [1]", 1), Example("a = [1]", "a = []"))


class DropOperand(Operator):  # type: ignore[misc]
    """A sum, such as one of lists of effects, lacks one of its operands."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        for operand in _operands(node):
            yield operand.start_pos, operand.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        place = 2 * index
        if place:
            del node.children[place - 1 : place + 1]
        else:
            node.children[2].get_first_leaf().prefix = node.children[0].get_first_leaf().prefix
            del node.children[:2]
        return node

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return (Example("a = b + c", "a = c"), Example("a = b + c", "a = b", 1))


class SwapMembership(Operator):  # type: ignore[misc]
    """`in` becomes `not in`, and the other way round."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "comparison":
            for operator in node.children[1::2]:
                if _is_membership(operator):
                    yield operator.start_pos, operator.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        places = [place for place in range(1, len(node.children), 2) if _is_membership(node.children[place])]
        place = places[index]
        former = node.children[place]
        value = "not in" if former.type == "keyword" else "in"
        node.children[place] = Keyword(value, former.start_pos, former.get_first_leaf().prefix)
        return node

    @classmethod
    def examples(cls) -> Sequence[Example]:
        return (Example("a in b", "a not in b"), Example("a not in b", "a in b"))


def _acts(node: Any) -> bool:
    """Whether an expression statement does something: a declaration and a docstring do not."""
    if node.type == "expr_stmt":
        return not (node.children[1].type == "annassign" and len(node.children[1].children) < 3)
    return bool(node.type == "atom_expr")


def _elements(node: Any) -> list[Any]:
    if node.type != "atom" or node.children[0] != "[" or len(node.children) != 3:
        return []
    inner = node.children[1]
    if inner.type != "testlist_comp":
        return [inner]
    if any(child.type in ("sync_comp_for", "comp_for") for child in inner.children):
        return []
    return [child for child in inner.children if child != ","]


def _operands(node: Any) -> list[Any]:
    if node.type != "arith_expr" or any(operator != "+" for operator in node.children[1::2]):
        return []
    return list(node.children[::2])


def _is_membership(operator: Any) -> bool:
    if operator.type == "comp_op":
        return bool(operator.children[0] == "not")
    return bool(operator == "in")


class Provider:
    """cosmic-ray's interface for operators of others; registered under `cosmic_ray.operator_providers`."""

    _operators = {made.__name__: made for made in (DropStatement, DropElement, DropOperand, SwapMembership)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._operators)

    def __getitem__(self, name: str) -> type[Operator]:
        return self._operators[name]
