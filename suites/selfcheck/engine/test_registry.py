"""What packages register, what is plugged in by name, how wrong names are answered, and which former ones are known."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from holdfast.fixtures.mutants.named import FORMER_NAMES, parts_of
from holdfast.fixtures.mutants.variants import VARIANTS
from holdfast.harness import cli
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.model.case import Case, Decision
from holdfast.harness.model.finding import Violation
from holdfast.harness.model.journal import Journal
from holdfast.harness.model.sentence import SHOWN, known_names, nearest
from holdfast.harness.model.verdict import CLAUSES, Anomaly, Outcome, Verdict, current_clause
from holdfast.harness.oracles import ORACLES
from holdfast.harness.spi import parts
from holdfast.harness.spi.storage import storage_factory
from holdfast.suites import chaos, conformance
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.engine.scripted import ScriptedSystem
from holdfast.suites.selfcheck.source_files import ROOT

HERE = __name__


def varied(variant: str = "") -> ScriptedSystem:
    if variant not in ("", "A3"):
        raise ValueError(f"variant {variant!r} is unknown; known: A3.")
    system = ScriptedSystem()
    system.name = f"varied+{variant}" if variant else "varied"
    return system


NOT_A_FACTORY = 3


def test_every_case_of_the_suites_is_plugged_in() -> None:
    """A module of cases that no suite names is one that nobody runs."""
    packages = (conformance, chaos)
    found = [name for each in packages for _, name, _ in pkgutil.walk_packages(each.__path__, f"{each.__name__}.")]
    cases = [case for name in found for case in getattr(importlib.import_module(name), "CASES", ())]
    assert cases
    assert {case.id for case in cases} <= {case.id for case in registry.cases()}


def test_a_system_by_module_and_name_with_a_variant() -> None:
    assert registry.system(f"{HERE}:varied").name == "varied"
    assert registry.system(f"{HERE}:varied+A3").name == "varied+A3"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nonesuch", "unknown system 'nonesuch'; known: "),
        (f"{HERE}:varied+Z9", "variant 'Z9' is unknown; known: A3."),
        (f"{HERE}:nothing", "cannot be loaded"),
        ("no.such.module:System", "cannot be loaded"),
        (f"{HERE}:NOT_A_FACTORY", "is a int: name a callable that returns a System."),
        ("builtins:dict", "is a dict without name, subject, capabilities"),
    ],
)
def test_a_wrong_system_is_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry.system(name)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_names_list_what_exists() -> None:
    assert (
        str(entry_points.unknown("rule", "BAR-99", ["BAR-02", "BAR-01"]))
        == "unknown rule 'BAR-99'; known: BAR-01, BAR-02."
    )
    assert "none is installed" in str(entry_points.unknown("case", "x", []))
    many = [f"BAR-{number:02d}" for number in range(99)]
    assert "the nearest of 99 are BAR-" in str(entry_points.unknown("rule", "BAR-99", many))


@pytest.mark.parametrize(
    ("name", "first"),
    [("notifies-befor-durable", "notifies-before-durable"), ("Rescale-Numbers-Anew", "rescale-numbers-anew")],
)
def test_an_unknown_variant_shows_the_nearest_of_hundreds(name: str, first: str) -> None:
    with pytest.raises(UsageError) as caught:
        registry.system(f"reference+{name}")
    sentence, _, names = str(caught.value).partition(" are ")
    assert sentence.endswith(f"variant {name!r} of the reference runtime is unknown; the nearest of {len(VARIANTS)}")
    assert names.split(", ")[0] == first
    assert len(names.split(", ")) <= SHOWN


def test_a_part_of_a_name_is_near_to_it() -> None:
    many = [f"{area}/{number}" for area in ("barriers", "restarts") for number in range(20)]
    assert set(nearest("barriers", many)) < {each for each in many if each.startswith("barriers")}
    assert known_names("zzz", many) == f"none of 40 is near, some are {', '.join(many[:5])}"


def test_asking_for_names_imports_nothing_heavy() -> None:
    code = (
        "import sys; from holdfast.harness.engine.site import entry_points, registry; entry_points.names('systems');"
        "print([name for name in ('numpy', 'pyarrow', 'rich') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    "module", ["holdfast.faults", "holdfast.harness.spi.system", "holdfast.harness.commands.doctor"]
)
def test_what_only_names_records_loads_no_arrays(module: str) -> None:
    """`doctor` loads them later, with the oracles that it counts."""
    code = f"import sys, {module}; print([name for name in ('numpy', 'pyarrow') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


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
    assert sentence.startswith("holdfast.state_backends is no group of entry points, so nothing reads 'mine';")


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


KNOWN = {f"{oracle.name}/{clause}" for oracle in ORACLES for clause in oracle.clauses}


def test_each_former_name_leads_to_a_clause_and_is_none_itself() -> None:
    assert CLAUSES
    assert set(CLAUSES.values()) <= KNOWN
    assert not KNOWN & set(CLAUSES)


def test_a_clause_of_another_oracle_keeps_its_name() -> None:
    assert current_clause("TXN", "abort-not-told") == "abort-not-told"


@pytest.mark.parametrize(("former", "current"), CLAUSES.items())
def test_stored_verdicts_are_read_under_the_current_name(former: str, current: str) -> None:
    (oracle, old), (_, new) = former.split("/"), current.split("/")
    stored = {"oracle": oracle, "outcome": "fail", "anomalies": [{"clause": old, "message": "m"}], "checked": {old: 2}}
    read = msgspec.json.decode(msgspec.json.encode(stored), type=Verdict)
    assert read == Verdict(oracle, Outcome.FAIL, (Anomaly(new, "m"),), {new: 2})
    assert read.rests_on({current})
    violation = msgspec.convert({"oracle": oracle, "clause": old, "meaning": "", "message": "m"}, Violation)
    assert violation.name == current


@pytest.mark.parametrize(("former", "current"), CLAUSES.items())
def test_a_case_of_another_package_decides_by_the_current_name(former: str, current: str) -> None:
    oracle, old = former.split("/")
    decision = Decision("CRD-01", oracle, (old,), "completes-without-ack")
    assert f"{oracle}/{decision.clauses[0]}" == current
    control = Case(id="a/b", purpose="", method="", passes="", decides=(), plan=plan(), refutes=frozenset({former}))
    assert control.refutes == {current}


@pytest.mark.parametrize(("former", "current"), FORMER_NAMES.items())
def test_a_stored_plan_may_hold_the_former_name_of_a_variant(former: str, current: str) -> None:
    assert former not in VARIANTS
    assert parts_of(former) is VARIANTS[current]
