"""What holds of every kit: its checks name rules, its contracts are whole, and it says the same many times."""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType
from typing import Any

import msgspec
import pytest

from holdfast.harness.engine.certification.kit_journal import floor_of, kit_journal, parts_of, why_absent
from holdfast.harness.engine.site import registry
from holdfast.harness.model.certificate import Title
from holdfast.harness.model.events import FileReference
from holdfast.harness.model.rule import Level
from holdfast.harness.model.status import Status
from holdfast.harness.spi import errors, state, storage
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.state import Extent, Manifest, StateDescriptor, StateHandle, StateKind
from holdfast.harness.spi.state.operator_state import OperatorStateManifest
from holdfast.harness.spi.storage import Scope
from holdfast.harness.spi.system import Part
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.selfcheck.certify.ten_of_ten import Kit, tried

OPTIONAL = {"state-backend": {"INC-08", "INC-09", "SBK-08", "SBK-11"}}
"""Rules that one may keep, and that have checks all the same."""


@pytest.mark.parametrize("name", registry.kits())
def test_each_check_names_a_rule_once(name: str) -> None:
    kit = registry.kit(name)
    subjects = {rule.id: rule.subjects for rule in registry.rules()}
    assert len({check.id for check in kit.checks}) == len(kit.checks)
    assert [check.id for check in kit.checks if kit.subject not in subjects[check.rule]] == []


@pytest.mark.parametrize("name", registry.kits())
def test_each_rule_that_it_must_keep_has_a_check(name: str) -> None:
    kit = registry.kit(name)
    must = {rule.id for rule in registry.rules() if kit.subject in rule.subjects and rule.level is Level.MUST}
    assert {check.rule for check in kit.checks} ^ must == OPTIONAL.get(name, frozenset())


CONTRACTS = ("checkpoint-storage", "file-system", "restart-strategy", "sink", "source", "state-backend")
PARTS = [each for each in parts_of(registry.system("reference")) if not why_absent(each)]


@pytest.mark.parametrize("contract", CONTRACTS)
def test_each_kit_has_one_and_it_is_of_its_own_checks(contract: str) -> None:
    kit = registry.kit(contract)
    assert floor_of(kit)
    assert {name for group in floor_of(kit) for name in group} <= {each.id for each in kit.checks}


@pytest.mark.share(6)
@pytest.mark.parametrize(
    "part",
    # That the hash map meets it, test_command.py shows: otherwise its certificate would be inconclusive.
    [pytest.param(each, marks=[pytest.mark.nightly] * (each.contract == "state-backend")) for each in PARTS],
    ids=lambda each: f"{each.contract} {each.factory}",
)
def test_it_holds_of_every_part_of_ours(part: Part) -> None:
    kit = registry.kit(part.contract)
    floor = floor_of(kit)
    ids = {name for group in floor for name in group}
    checks = kit.certify(part.factory, ids, location=part.location, options=part.options)
    applied = {each.id for each in checks if each.status is not Status.NOT_APPLICABLE}
    assert all(group & applied for group in floor)


def test_a_group_of_which_nothing_applied_is_open_and_one_of_it_is_enough() -> None:
    def title(*statuses: Status) -> Title:
        checks = [
            KitCheck(f"E2E-0{number}/any", "It works.", f"E2E-0{number}", status, "" if status is Status.PASS else "no")
            for number, status in enumerate(statuses, 1)
        ]
        floor = (frozenset({"E2E-02/any", "E2E-03/any"}),)
        journal = kit_journal(checks, command="", factory="a:B", subject="SNK", started="", duration_s=0.0, floor=floor)
        found = {each.status for each in journal.cases}
        assert (Status.INCONCLUSIVE in found) is (journal.certificate.title is Title.INCONCLUSIVE)
        return journal.certificate.title

    passed, absent = Status.PASS, Status.NOT_APPLICABLE
    assert title(passed, absent, absent) is Title.INCONCLUSIVE
    assert title(passed, passed, absent) is not Title.INCONCLUSIVE
    assert title(passed, absent) is not Title.INCONCLUSIVE


RAISED = re.compile(r"^ {4,}([A-Z]\w+(?:, [A-Z]\w+)*): ", re.MULTILINE)
ERRORS = {*errors.__all__, "FileExistsError", "FileNotFoundError", "RuntimeError", "ValueError", "Exception"}
"""The last is what a call hands on of what it was given."""


def protocols() -> Iterator[type]:
    of_state = (import_module(f"{state.__name__}.{found.name}") for found in iter_modules(state.__path__))
    for module in (*of_state, storage):
        for _, each in inspect.getmembers(module, inspect.isclass):
            if each.__module__ == module.__name__ and getattr(each, "_is_protocol", False):
                yield each


def methods(protocol: type) -> Iterator[tuple[str, Any]]:
    return ((name, each) for name, each in vars(protocol).items() if isinstance(each, FunctionType) and name[0] != "_")


@pytest.mark.parametrize("protocol", list(protocols()), ids=lambda each: each.__name__)
def test_each_method_has_a_contract(protocol: type) -> None:
    assert protocol.__doc__
    found = dict(methods(protocol))
    assert found
    for name, method in found.items():
        assert method.__doc__, name
        _, _, raises = method.__doc__.partition("Raises:")
        named = {each for group in RAISED.findall(raises) for each in group.split(", ")}
        assert named <= ERRORS, name


def test_errors_are_caught_by_what_python_calls_them() -> None:
    assert {each for each in errors.__all__ if issubclass(getattr(errors, each), OSError)} == {
        "Transient",
        "Full",
        "Fenced",
    }
    assert not any(hasattr(builtins, each) for each in errors.__all__)
    full = errors.Full("max_key_bytes", 3, 4)
    assert (full.limit, full.allowed, full.needed) == ("max_key_bytes", 3, 4)
    assert str(full) == "max_key_bytes is 3, and 4 is needed."


def test_what_goes_into_metadata_survives_it() -> None:
    handle = StateHandle("a", Scope.SHARED, FileReference("shared/a", 3, 7), {2: Extent(0, 3, 7)})
    manifest = Manifest(
        format="f-1",
        checkpoint=1,
        subtask=0,
        first_key_group=0,
        end_key_group=4,
        max_parallelism=8,
        handles=(handle, StateHandle("b", Scope.SHARED, None, {})),
        descriptors=(StateDescriptor(name="s", kind=StateKind.VALUE),),
        opaque=b"\xff",
    )
    operator = OperatorStateManifest(format="f-1", checkpoint=1, descriptors=(), handle=handle, elements={"s": ()})
    for each in (manifest, operator):
        assert msgspec.json.decode(msgspec.json.encode(each), type=type(each)) == each


def nothing(bench: object) -> None:
    """The verdict is that of the kit."""


CHECK = Check[object]("REC-02/resumes", "It resumes.", nothing)


def fails_from_seed_7(check: Check[object], subject: object, seed: int) -> CheckVerdict:
    status = Status.FAIL if seed >= 7 else Status.PASS
    return CheckVerdict(check, status, check.rule, f"{subject} with {seed}")


def test_each_seed_is_tried_and_an_unexpected_one_is_told() -> None:
    lines: list[str] = []
    kit = Kit({CHECK.id: CHECK}, fails_from_seed_7, {"right": "R"}, [("wrong", "W", CHECK.id)])
    assert tried(kit, range(6, 8), lines.append) == ("0 of 1", "0 of 1", 2)
    assert [line for line in lines if "R with" in line] == [line for line in lines if line.startswith("right, seed 7")]
    assert [line.partition(" in ")[0] for line in lines if " of 2" in line] == [
        "right: 1 of 2",
        f"wrong by {CHECK.id}: 1 of 2",
    ]
    assert tried(kit, range(3, 5), lines.append)[0] == "1 of 1"
