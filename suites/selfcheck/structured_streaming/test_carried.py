"""A pipeline is more than a file: what it imports travels with it, into containers, too."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.fixtures.pipelines.carried import Code, carried, code_of, renamed
from holdfast.fixtures.pipelines.declaration import declaration_of
from holdfast.fixtures.systems.structured_streaming.session import Session
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.suites.selfcheck.structured_streaming import pipelines
from holdfast.suites.selfcheck.structured_streaming.test_output_pairs import PLAN, clauses

SHOP = Path(pipelines.__path__[0]) / "shop"
RIGHT, WRONG = SHOP / "orders_right.py", SHOP / "orders_wrong.py"
REPEATED = "EXACT/row-repeated"
BUILD = "def build(spark, endpoints): pass\n"


@pytest.fixture(autouse=True)
def modules_are_imported_afresh() -> Iterator[None]:
    before = list(sys.path)
    yield
    sys.path[:] = before
    for name in ("orders_right", "rates_of_shop", "taxes_of_shop"):
        sys.modules.pop(name, None)


def shop(folder: Path, py_files: str) -> Path:
    """A copy of the shop with another list."""
    copy = shutil.copytree(SHOP, folder / "shop", ignore=shutil.ignore_patterns("__pycache__"))
    text = (copy / RIGHT.name).read_text().replace('["taxes/taxes_of_shop.py"]', py_files)
    (copy / RIGHT.name).write_text(text)
    return copy / RIGHT.name


def test_a_module_may_import_what_its_list_names() -> None:
    assert declaration_of(str(RIGHT)).files == (str(SHOP / "taxes" / "taxes_of_shop.py"),)


@pytest.mark.parametrize(
    ("py_files", "sentence"),
    [
        ('["taxes/none.py"]', r"names 'taxes/none.py', and there is no file '.*taxes/none.py': correct it"),
        ('"taxes/taxes_of_shop.py"', r"is 'taxes/taxes_of_shop.py': use a list of texts"),
        ('sorted(["taxes/taxes_of_shop.py"])', r"is .*sorted\(.*: use a list of texts"),
        ("[]", "does not import: ModuleNotFoundError: No module named 'taxes_of_shop'"),
    ],
)
def test_a_list_that_cannot_be_used_is_refused_in_one_sentence(py_files: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=sentence):
        declaration_of(str(shop(tmp_path, py_files)))


def test_what_travels_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "exchange").mkdir()
    path = shop(tmp_path, '["../elsewhere/library.zip", "taxes/taxes_of_shop.py"]')
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "library.zip").write_bytes(b"zip")
    package = path.parent / "package_of_shop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (path.parent / "orders.csv").write_text("not code")
    code = code_of(str(path))
    copy = carried(code, tmp_path / "exchange")
    folder = Path(copy.reference).parent
    assert {each.name for each in folder.iterdir()} == {
        "orders_right.py", "orders_wrong.py", "package_of_shop", "rates_of_shop.py", "taxes"
    }  # fmt: skip
    assert [Path(each).relative_to(folder.parent) for each in copy.files] == [
        Path("elsewhere/library.zip"), Path("shop/taxes/taxes_of_shop.py")
    ]  # fmt: skip
    assert carried(code, None) == code
    assert carried(code, tmp_path / "exchange") == copy
    path.write_text(path.read_text() + "# changed\n")
    assert carried(code, tmp_path / "exchange").reference != copy.reference  # It is imported once in a driver's life.
    assert renamed(f"{code.reference}:state", code.reference, copy) == f"{copy.reference}:state"
    assert renamed("module:state", code.reference, copy) == "module:state"


def test_an_installed_module_travels_with_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "team_of_shop"
    package.mkdir()
    for name in ("__init__", "orders", "library"):
        (package / f"{name}.py").write_text(BUILD)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "exchange").mkdir()
    copy = carried(code_of("team_of_shop.orders"), tmp_path / "exchange")
    assert copy.reference == "team_of_shop.orders"
    [folder] = map(Path, copy.files)
    assert folder.is_relative_to(tmp_path / "exchange")
    assert {path.name for path in folder.iterdir()} >= {"__init__.py", "orders.py", "library.py"}
    ours = Code(f"{pipelines.__name__}.join_right")
    assert carried(ours, tmp_path / "exchange") == ours  # Containers have our packages.


def test_a_life_of_a_driver_program_has_modules_of_one_place() -> None:
    class Counting(Session):
        ends = 0
        dead = False

        def end(self) -> None:
            self.ends += 1

    session = Counting(host=None)  # type: ignore[arg-type]
    for home, ends in (("", 0), ("/a", 0), ("", 0), ("/a", 0), ("/b", 1), ("/b", 1), ("/a", 2)):
        session.serve((home,) if home else ())
        assert session.ends == ends
    assert Code("/a/one.py").home == Code("/a/two.py").home == ("/a",)
    assert Code("/a/one.py", ("/b/library.zip",)).home == ("/a", "/b/library.zip")
    assert Code("package.module").home == ()


def test_a_place_whose_name_holds_a_colon_is_one_place() -> None:
    """It was taken for two, and for another one that is named so."""
    assert Code("/a:/b/one.py").home != Code("/a/one.py", ("/b",)).home


def judged(path: Path, tier: Tier, folder: Path) -> tuple[Outcome, str, set[str]]:
    folder.mkdir()
    run = run_plan(PLAN, registry.system(f"spark+{path}"), registry.toolbox(), tier, folder)
    return run.outcome, run.reason, clauses(run)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "tier",
    [pytest.param(tier, marks=pytest.mark.tier(tier.value)) for tier in (Tier.SPARK, Tier.CONTAINERS)],
)
def test_a_pair_that_imports_is_judged_rightly(tier: Tier, tmp_path: Path) -> None:
    outcome, reason, _ = judged(RIGHT, tier, tmp_path / "right")
    assert (outcome, reason) == (Outcome.PASS, "")
    outcome, reason, found = judged(WRONG, tier, tmp_path / "wrong")
    assert outcome is Outcome.FAIL, reason
    assert REPEATED in found
