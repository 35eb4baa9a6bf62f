"""What every system needs is there once: one class whose verbs act on links of targets, one that knows which faults act
on a link, and two relays."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache

import pytest

from holdfast.suites.selfcheck.source_files import source_files

SIMULATED = "fixtures/reference/drivers/simulated/"
"""The simulator has a network of its own, and no relay."""


@cache
def classes() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """All of what runs processes, by file and name, but for protocols: the arguments of each method by its name."""
    return {
        f"{path}:{node.name}": {
            each.name: frozenset(argument.arg for argument in each.args.args)
            for each in node.body
            if isinstance(each, ast.FunctionDef)
        }
        for path, source in source_files("harness/adapter", "fixtures")
        if not path.startswith(SIMULATED)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and not any("Protocol" in ast.unparse(base) for base in node.bases)
    }


def with_verbs(*verbs: str) -> set[str]:
    """Classes that define all of these."""
    return {name for name, methods in classes().items() if methods.keys() >= set(verbs)}


@pytest.mark.parametrize(
    ("verbs", "implementations"),
    [
        (("cut", "slow", "restore", "whole"), {"harness/adapter/links.py:LinksOfTargets"}),
        (
            ("impair", "does", "lead"),
            {"harness/adapter/relay_process.py:RelayProcess", "fixtures/services/toxiproxy.py:Toxiproxy"},
        ),
        (
            ("act", "restore", "whole"),
            {"harness/adapter/links.py:Links", "fixtures/systems/flink/links.py:MovingLinks"},
        ),
        (("change", "passed"), {"harness/adapter/network/pipe.py:Wire"}),
    ],
    ids=["verbs of a link", "relays", "faults of a link by name", "what is done to bytes"],
)
def test_each_is_there_once(verbs: tuple[str, ...], implementations: set[str]) -> None:
    """Flink's stands in front of the one: a channel is where its sender runs."""
    assert with_verbs(*verbs) == implementations


def test_whoever_cuts_a_link_is_counted() -> None:
    """By its own verb alone, so that one that has fewer is found as well."""
    found = {name for name, methods in classes().items() if "direction" in methods.get("cut", ())}
    assert found == {"harness/adapter/links.py:LinksOfTargets"}
