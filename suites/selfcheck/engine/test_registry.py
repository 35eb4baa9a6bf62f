"""What is plugged in, by name; and how a wrong name is answered."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

from holdfast.fixtures.mutants.variants import VARIANTS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points, registry
from holdfast.harness.model import nearest
from holdfast.suites import chaos, conformance
from holdfast.suites.selfcheck.engine.scripted import ScriptedSystem

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
    assert len(names.split(", ")) <= nearest.SHOWN


def test_a_part_of_a_name_is_near_to_it() -> None:
    many = [f"{area}/{number}" for area in ("barriers", "restarts") for number in range(20)]
    assert set(nearest.nearest("barriers", many)) < {each for each in many if each.startswith("barriers")}
    assert nearest.known_names("zzz", many) == f"none of 40 is near, some are {', '.join(many[:5])}"


def test_asking_for_names_imports_nothing_heavy() -> None:
    code = (
        "import sys; from holdfast.harness.engine.site import entry_points, registry; entry_points.names('systems');"
        "print([name for name in ('numpy', 'pyarrow', 'rich') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
