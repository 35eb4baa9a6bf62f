"""What is left to the night takes no clause from the day: computed from the tests that the whole folder runs by day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from holdfast.harness.engine.site import registry
from holdfast.harness.oracles import ORACLES
from holdfast.suites.selfcheck import test_mutants
from holdfast.suites.selfcheck.oracles import test_exhibits
from holdfast.suites.selfcheck.oracles.builder import EXHIBITS

HERE = Path(__file__).parent
JUDGED = test_exhibits.test_its_own_oracle_judges_it_rightly.__name__
KILLED = test_mutants.test_its_own_plan_kills_a_mutant.__name__


def arguments(items: Iterable[pytest.Item], test: str, name: str) -> list[object]:
    """What the chosen items of a test have for one of its arguments."""
    functions = (item for item in items if isinstance(item, pytest.Function) and item.originalname == test)
    return [item.callspec.params[name] for item in functions]


def clauses_named(items: Sequence[pytest.Item]) -> set[tuple[str, str]]:
    """(oracle, clause) that names a bad history."""
    oracles = arguments(items, JUDGED, "oracle")
    return {(each.oracle, each.clause) for each in EXHIBITS.values() if each.bad and each.oracle in oracles}


def mutants_killed(items: Sequence[pytest.Item]) -> set[str]:
    return {getattr(mutant, "name", "") for mutant in arguments(items, KILLED, "mutant")}


@pytest.fixture
def chosen(request: pytest.FixtureRequest) -> Sequence[pytest.Item]:
    """All that a day runs."""
    config = request.config
    folders = {Path(each).resolve() for each in config.args}
    whole = folders & {HERE, *HERE.parents} and config.option.markexpr == "not nightly"
    if not whole or config.option.keyword or config.getoption("--tier"):
        pytest.skip("only a run of the whole folder by day shows it")
    return request.session.items


def test_each_clause_names_something_wrong_by_day(chosen: Sequence[pytest.Item]) -> None:
    clauses = {(oracle.name, clause) for oracle in ORACLES for clause in oracle.clauses}
    assert clauses_named(chosen) >= clauses - test_exhibits.OPEN


def test_each_registered_mutant_is_killed_by_day(chosen: Sequence[pytest.Item]) -> None:
    assert mutants_killed(chosen) >= {mutant.name for mutant in registry.mutants()}


def test_what_is_left_to_the_night_is_missed(request: pytest.FixtureRequest) -> None:
    """Of this file alone nothing that is looked for was chosen."""
    items = [each for each in request.session.items if each.path == Path(__file__)]
    assert items
    assert not clauses_named(items)
    assert not mutants_killed(items)


@pytest.mark.share(3)
@pytest.mark.parametrize("number", range(7))
def test_the_first_of_every_three_is_asked_by_day(number: int, request: pytest.FixtureRequest) -> None:
    """Counted are those that were collected: of one alone it shows nothing."""
    by_night = request.node.get_closest_marker("nightly") is not None
    assert by_night is (number not in (0, 3, 6))
