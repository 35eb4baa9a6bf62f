"""The mutation test on trial: its mutants keep their names, and what becomes of them is what it says."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("cosmic_ray", reason="mutants are made with cosmic-ray, of the extra `develop`")

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from rich.console import Console

import holdfast.faults
from holdfast.harness.engine.site import registry
from holdfast.suites.selfcheck.directed_plans import distinct_plans
from holdfast.suites.selfcheck.mutation.__main__ import report
from holdfast.suites.selfcheck.mutation.baseline import TOO_LONG, plans_of
from holdfast.suites.selfcheck.mutation.ledger import KINDS, Permission, permitted
from holdfast.suites.selfcheck.mutation.source_mutants import OPERATORS, SourceMutant, mutants_of, sample
from holdfast.suites.selfcheck.mutation.trial import Fate, Tried

ROOT = Path(holdfast.faults.__file__).parents[1]
PROTOCOL = "fixtures/reference/protocol"
SOURCE = """class Store:
    size: int | None = 3

    def add(self, item: int = 1) -> list[int]:
        if self.size == item:
            return [item, *self.items]
        self.size = item + 1
        return []
"""


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_does_what_its_examples_say(name: str) -> None:
    made = get_operator(name)
    for example in made.examples():
        if example.post_mutation_code == example.pre_mutation_code:
            continue  # where it does nothing
        operator = made(**example.operator_args)
        assert mutate_code(example.pre_mutation_code, operator, example.occurrence) == example.post_mutation_code


def _mutants(tmp_path: Path, text: str) -> list[SourceMutant]:
    (tmp_path / "fixtures").mkdir(exist_ok=True)
    (tmp_path / "fixtures" / "store.py").write_text(text)
    return mutants_of(tmp_path, "fixtures")


def test_a_mutant_keeps_its_identity_where_lines_move(tmp_path: Path) -> None:
    before = _mutants(tmp_path, SOURCE)
    after = _mutants(tmp_path, "LIMIT = 3\n\n\n" + SOURCE)
    assert {each.identity for each in before} <= {each.identity for each in after}
    names = {each.function for each in before}
    assert names == {"Store", "Store.add"}


def test_every_mutant_is_another_text_that_compiles(tmp_path: Path) -> None:
    mutants = _mutants(tmp_path, SOURCE)
    texts = {each.source(SOURCE) for each in mutants}
    assert len(texts) == len({each.identity for each in mutants}) == len(mutants) > 8
    assert SOURCE not in texts
    for text in texts:
        compile(text, "store.py", "exec")


def test_types_are_left_alone(tmp_path: Path) -> None:
    assert all("int |" in each.source(SOURCE) or "size" not in each.source(SOURCE) or
               each.operator.endswith("DropStatement") for each in _mutants(tmp_path, SOURCE))  # fmt: skip


def test_a_larger_sample_begins_with_a_smaller_one() -> None:
    mutants = mutants_of(ROOT, f"{PROTOCOL}/checkpoints")
    large = sample(mutants, 50, seed=1)
    assert sample(mutants, 20, seed=1) == large[:20]
    assert sample(mutants, 20, seed=2) != large[:20]
    assert len({(each.file, each.line, each.column) for each in large}) == 50


def test_no_plan_takes_longer_than_a_mutant_may() -> None:
    """With it, each mutant that was not refuted before was not judged."""
    assert TOO_LONG in distinct_plans()
    names = {name for name, _ in plans_of(1, directed=True)}
    assert names == {"seed 1", *distinct_plans()} - {TOO_LONG}


def test_permissions_name_mutants_that_exist_and_rules_that_are() -> None:
    identities = {each.identity for each in mutants_of(ROOT, PROTOCOL)}
    rules = {rule.id for rule in registry.rules()}
    for identity, permission in permitted().items():
        assert identity in identities, f"{identity} is gone: take its permission off"
        assert permission.kind in KINDS
        assert permission.why
        assert not permission.rule or permission.rule in rules


def test_the_aim_is_a_share_of_the_mutants_that_differ(tmp_path: Path) -> None:
    mutants = _mutants(tmp_path, SOURCE)
    fates = (Fate.REFUTED, Fate.REFUTED, Fate.SURVIVOR, Fate.SURVIVOR, Fate.EQUIVALENT)
    done = [Tried(mutant, fate) for mutant, fate in zip(mutants, fates, strict=False)]
    explained = {mutants[2].identity: Permission(kind=KINDS[0], why="It is on time all the same.")}
    console = Console(file=StringIO())
    assert report(done, explained, console) == 0.75
    assert report(done[4:], {}, console) == 1


def _tested(folder: Path, *arguments: str) -> tuple[int, str, dict[str, Tried]]:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast.suites.selfcheck.mutation", "--out", str(folder), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    lines = (folder / "mutants.jsonl").read_bytes().splitlines()
    tried = [msgspec.json.decode(line, type=Tried) for line in lines]
    assert len({each.mutant.identity for each in tried}) == len(tried)
    return done.returncode, done.stdout, {each.mutant.identity: each for each in tried}


@pytest.mark.nightly
def test_a_sample_is_tried_and_gone_on_with(tmp_path: Path) -> None:
    few = ("--source", f"{PROTOCOL}/checkpoints", "--drawn", "6", "--undirected", "--seed", "3")
    _, _, first = _tested(tmp_path, *few, "--sample", "6")
    _, printed, both = _tested(tmp_path, *few, "--sample", "12")
    assert {identity: both[identity] for identity in first} == first
    assert len(both) == 12
    fates = {each.fate for each in both.values()}
    assert Fate.REFUTED in fates
    assert Fate.UNJUDGED not in fates
    assert "whose trace differs are refuted or explained" in printed
    for each in both.values():
        assert bool(each.clause) is (each.fate is Fate.REFUTED)
