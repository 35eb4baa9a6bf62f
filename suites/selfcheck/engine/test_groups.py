"""What packages register: where, in how many groups, and what is said of what cannot be read."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import suites
from holdfast.harness import cli
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.model.journal import Journal
from holdfast.harness.spi import parts
from holdfast.harness.spi.storage import storage_factory

ROOT = Path(suites.__path__[0]).parent
MOST_GROUPS = 10
OF_OTHERS = {"pytest11", "cosmic_ray.operator_providers"}
Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """A package `acme` with entry points and a module."""
    caches = (entry_points.entries, parts._registered)

    def clear() -> None:
        for each in caches:
            each.cache_clear()

    def installed(points: str, module: str) -> None:
        (tmp_path / "acme-1.dist-info").mkdir()
        (tmp_path / "acme-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
        (tmp_path / "acme-1.dist-info" / "entry_points.txt").write_text(points)
        (tmp_path / f"{tmp_path.name}.py").write_text(module)
        monkeypatch.syspath_prepend(tmp_path)
        clear()

    yield installed
    monkeypatch.undo()
    clear()


def test_groups_are_few_and_each_is_read() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    assert {each.removeprefix("holdfast.") for each in declared.keys() - OF_OTHERS} == set(entry_points.GROUPS)
    assert len(entry_points.GROUPS) <= MOST_GROUPS


def test_every_registered_part_is_there() -> None:
    pytest.importorskip("rocksdict", reason="the extra rocksdb is not installed")
    for contract, name in parts._registered().parts:
        assert callable(parts.part_named(contract, name))
    assert parts.part_problems() == ()


def test_a_part_of_a_third_party_goes_by_its_name_and_needs_no_permission(install: Install, tmp_path: Path) -> None:
    module = tmp_path.name
    install(
        f"[holdfast.parts]\nacme = {module}:PARTS\n",
        "from holdfast.harness.spi.parts import RegisteredPart\n"
        "def made(context): ...\n"
        "CONTRACTS = ('state-backend', 'checkpoint-storage')\n"
        f"PARTS = [RegisteredPart(each, 'acme', '{module}:made') for each in CONTRACTS]\n",
    )
    assert storage_factory("acme://a/b").__name__ == "made"
    assert registry.state_backend("acme").__name__ == "made"
    assert f"{module}:made" in parts.part_factories()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("raise RuntimeError('no licence')", "cannot be loaded (RuntimeError: no licence): install it again."),
        ("def PARTS(): ...", "is or holds a function: name RegisteredParts."),
        (
            "from holdfast.harness.spi.parts import RegisteredPart\n"
            "PARTS = RegisteredPart('state-backend', 'hashmap', 'acme:Other')",
            "holds a second state-backend 'hashmap': give it another name.",
        ),
    ],
)
def test_a_table_that_cannot_be_read_is_named_and_keeps_no_other_from_being_found(
    table: str, sentence: str, install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(f"[holdfast.parts]\nmine = {tmp_path.name}:PARTS\n", table)
    assert storage_factory("memory://a").__name__ == "storage"
    assert [each.endswith(sentence) for each in parts.part_problems()] == [True]
    with pytest.raises(ValueError, match="has no known scheme") as caught:
        storage_factory("acme://a")
    assert sentence in str(caught.value)
    assert cli.execute(["doctor"]) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())


def test_an_entry_point_in_a_group_that_is_no_more_is_named(install: Install) -> None:
    install("[holdfast.state_backends]\nmine = acme:Backend\n", "")
    [sentence] = entry_points.misplaced()
    assert sentence.startswith("holdfast.state_backends is no group of entry points, so nobody reads 'mine';")


def test_a_reporter_says_what_it_shows(install: Install, tmp_path: Path) -> None:
    install(
        f"[holdfast.reporters]\nmine = {tmp_path.name}:Mine\n",
        "class Mine:\n    name, writes = 'mine', 'mine.txt'\n    def render(self, shown, folder): ...\n",
    )
    with pytest.raises(UsageError, match="reporter 'mine' does not say what it shows: give its class shows = Journal"):
        registry.reporters(Journal)


def test_what_is_registered_as_a_suite_is_one(install: Install, tmp_path: Path) -> None:
    install(f"[holdfast.suites]\nmine = {tmp_path.name}:SUITE\n", "SUITE = 3\n")
    with pytest.raises(UsageError, match=r"3 is registered under .* and is no Suite"):
        registry.kits()
