"""What a module may name as its next version, and what both must have alike."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.fixtures.pipelines.declaration import Declaration, declaration_of, require_same_answer
from holdfast.harness.engine.site import registry
from holdfast.harness.model.capability import Capability

BUILD = "def build(spark, endpoints): pass\n"
UNIQUE = f"{BUILD}UNIQUE = ['order_id']\ndef unique(inputs): return [1]\n"


@pytest.fixture(autouse=True)
def modules_are_imported_afresh() -> Iterator[None]:
    before = list(sys.path)
    yield
    sys.path[:] = before


def declared(folder: Path, named: str, first: str = BUILD, second: str = BUILD) -> Declaration:
    (folder / "orders_v2.py").write_text(second)
    path = folder / "orders.py"
    path.write_text(f"{first}NEXT = {named}\n")
    return declaration_of(str(path))


@pytest.mark.parametrize("named", ["'orders_v2.py'", "'orders_v2'"])
def test_a_file_beside_it_is_its_next_version(named: str, tmp_path: Path) -> None:
    found = declared(tmp_path, named).next_version
    assert found is not None
    assert found.reference == str(tmp_path / "orders_v2.py")
    assert found.next_version is None


def test_so_is_a_module_that_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "team_of_orders"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "orders.py").write_text(f"{BUILD}NEXT = 'team_of_orders.orders_v2'")
    (package / "orders_v2.py").write_text(f"{BUILD}NEXT = 'team_of_orders.orders'")  # That is not read.
    monkeypatch.syspath_prepend(package.parent)
    found = declaration_of("team_of_orders.orders").next_version
    assert found is not None
    assert (found.reference, found.next_version) == ("team_of_orders.orders_v2", None)


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("5", "is 5: name a file beside it, such as 'orders_v2.py', or a module"),
        ("''", "is '': name a file beside it"),
        ("'orders_v3.py'", "is 'orders_v3.py', and there is no file '.*/orders_v3.py': correct it"),
        ("'../orders_v2.py'", "put the next version beside the pipeline, and name its file alone"),
        ("'orders.py'", "which is the pipeline itself: name another one"),
        ("'orders_v3'", "pipeline 'orders_v3' does not import: ModuleNotFoundError"),
    ],
)
def test_what_cannot_take_its_place_is_refused_in_one_sentence(named: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        declared(tmp_path, named)


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (BUILD, "", r"orders_v2.py' has no function build"),
        (
            UNIQUE,
            BUILD,
            r"UNIQUE of pipeline '.*orders.py' is \['order_id'\], and None in its next version '.*orders_v2",
        ),
        (BUILD, f"{BUILD}GUARANTEE = 'at-least-once'", "GUARANTEE of pipeline .* declare the same in both"),
        (BUILD, f"{BUILD}OUTPUT = {{'kind': 'files', 'format': 'csv'}}", "OUTPUT of pipeline"),
        (
            BUILD,
            f"{BUILD}def batch(spark, inputs): pass",
            "pipeline '.*orders_v2.py' has a function batch, and '.*orders.py' has none, though one",
        ),
        (
            f"{BUILD}def expected(inputs): pass\n",
            BUILD,
            "'.*orders.py' has a function expected",
        ),
    ],
)
def test_both_declare_the_same(first: str, second: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        declared(tmp_path, "'orders_v2.py'", first, second)


def test_only_one_with_a_next_version_can_be_upgraded(tmp_path: Path) -> None:
    declared(tmp_path, "'orders_v2.py'")
    upgraded = {
        name: {Capability.UPGRADE in able for able in registry.system(f"spark{name}").capabilities.values()}
        for name in ("", f"+{tmp_path}/orders.py", f"+{tmp_path}/orders_v2.py")
    }
    assert list(upgraded.values()) == [{False}, {True}, {False}]


ROWS: Sequence[Mapping[str, Any]] = [{"name": "a", "sum": 0.3}, {"name": "a", "sum": 0.3}, {"name": "b", "sum": None}]


@pytest.mark.parametrize(
    "second",
    [
        ROWS[::-1],
        [{**row, "more": number} for number, row in enumerate(ROWS)],
        [{"name": "a", "sum": 0.1 + 0.2}, *ROWS[1:]],
    ],
    ids=["another-order", "a-column-more", "rounded"],
)
def test_answers_that_differ_in_nothing_that_is_judged_are_the_same(second: Sequence[Mapping[str, Any]]) -> None:
    require_same_answer(ROWS, second, "orders_v2.py")
    require_same_answer([], [], "orders_v2.py")


@pytest.mark.parametrize(
    ("second", "difference"),
    [
        (ROWS[1:], r"lacks row \{'name': 'a', 'sum': 0.3\}"),
        ([*ROWS, ROWS[0]], r"adds row \{'name': 'a', 'sum': 0.3\}"),
        ([], "lacks row"),
        ([{"name": "a"}], "it has no column 'sum'"),
    ],
)
def test_other_answers_are_told_by_a_row(second: Sequence[Mapping[str, Any]], difference: str) -> None:
    with pytest.raises(OSError, match=f"'orders_v2.py' has another answer than the first one .*{difference}.*no NEXT"):
        require_same_answer(ROWS, second, "orders_v2.py")
