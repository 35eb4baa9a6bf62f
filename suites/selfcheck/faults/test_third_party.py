"""A fault of a third party: registered by its own package, it is drawn, acts, and stands in the table of a campaign."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from holdfast.faults import FAULTS
from holdfast.harness.engine.artefacts.json_files import plan_digest
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.engine.swarm.mix import SWARM, Mix
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import FaultInjected
from holdfast.harness.model.plan import FaultSpec, Schedule
from holdfast.harness.model.target import STORAGE
from holdfast.harness.oracles.shared.exemptions import exemptions
from holdfast.harness.spi.attack import Attack, Drawn, Scene
from holdfast.harness.spi.fault import AnyFault

_SOURCE = '''
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.consequence import Consequence
from holdfast.harness.model.events import StorageSlowed
from holdfast.harness.model.plan import FaultSpec
from holdfast.harness.model.target import STORAGE, Role
from holdfast.harness.spi.attack import Attack
from holdfast.harness.spi.controls.storage import StorageControl

OPERATION, DELAY_MS = "publish-metadata", 3


def draw(scene):
    return [FaultSpec("hesitate", STORAGE, scene.unaimed(), scene.lasting_ms())]


class Hesitate:
    """Each publication of metadata takes 3 ms longer."""

    kind = "hesitate"
    roles = frozenset({Role.STORAGE})
    parameters = {}
    colour = "#123456"
    leaves = "nothing"
    lasting = True
    may_cause = frozenset({Consequence.HOLDS_UP_RECORDS})
    control = StorageControl
    attacks = (Attack("hesitate", draw, (Capability.SLOW_STORAGE,), share=100),)

    def needs(self, spec):
        return Capability.SLOW_STORAGE

    def inject(self, control, spec):
        control.slow(OPERATION, DELAY_MS, 0)

    def undo(self, control, spec):
        control.restore(OPERATION, delay_ms=DELAY_MS)

    def healed(self, control, spec):
        return control.whole(OPERATION, delay_ms=DELAY_MS)

    def landed(self, history, fault):
        return any(event.operation == OPERATION for event in history.of(StorageSlowed))
'''


def test_a_fault_of_a_third_party_is_drawn_acts_and_is_counted(tmp_path: Path) -> None:
    package = tmp_path / "acme_faults-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-faults\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[holdfast.faults]\nhesitate = acme_faults:Hesitate\n")
    (tmp_path / "acme_faults.py").write_text(_SOURCE)
    command = ("-m", "holdfast.harness.cli", "campaign", "reference", "--seeds", "1-6", "--out", str(tmp_path / "out"))
    ended = subprocess.run(
        [sys.executable, *command], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    counted = re.search(r"(\d+) of +(\d+) .* hesitate storage", ended.stdout)
    assert counted, ended.stdout + ended.stderr
    took_effect, drawn = map(int, counted.groups())
    assert 0 < took_effect <= drawn <= 6


@pytest.mark.parametrize(("declares", "expected"), [(True, (Consequence.HOLDS_UP_RECORDS,)), (False, None)])
def test_what_a_fault_of_a_third_party_declares_travels_into_the_history(
    declares: bool, expected: tuple[Consequence, ...] | None
) -> None:
    members: dict[str, Any] = {}
    exec(_SOURCE, members)
    hesitate = members["Hesitate"]
    if not declares:
        del hesitate.may_cause
    tools = registry.toolbox()
    spec = FaultSpec("hesitate", STORAGE, Schedule(after_checkpoint=1), 50)
    plan = replace(draw_plan(1), faults=(spec,))
    run = run_plan(plan, registry.system("reference"), replace(tools, faults={**tools.faults, "hesitate": hesitate()}))
    assert [event.may_cause for event in run.history.of(FaultInjected)] == [expected]
    assert bool(exemptions(run.history).held_up_ns()) is declares


class Idle:
    """Nothing but its attacks."""

    kind = "idle"

    def __init__(self, *attacks: Attack) -> None:
        self.attacks = attacks


def _idle(scene: Scene) -> list[FaultSpec]:
    return [FaultSpec("idle", scene.worker(), scene.unaimed())]


def _swarm_with(*attacks: Attack) -> Mix:
    """The swarm with one fault more."""
    faults = {**registry.toolbox().faults, "idle": cast("AnyFault", Idle(*attacks))}
    return replace(SWARM, faults=faults)


def test_one_more_fault_changes_nothing_else_of_a_plan() -> None:
    mix = _swarm_with(Attack("idle", _idle, share=50))
    drawn = 0
    for seed in range(1, 101):
        plan, without = draw_plan(seed, mix), draw_plan(seed)
        kept = tuple(spec for spec in plan.faults if spec.kind != "idle")
        drawn += len(plan.faults) - len(kept)
        assert kept == without.faults
        assert (plan_digest(plan) == plan_digest(without)) is (kept == plan.faults)
    assert 25 < drawn < 60, "in half of the plans whose job goes on"


def test_each_attack_of_ours_has_a_place_of_its_own_in_front_of_others() -> None:
    """Otherwise what a seed draws would depend on the order in which packages are registered."""
    faults = [make() for make in FAULTS]
    attacks = [attack for fault in faults if isinstance(fault, Drawn) for attack in fault.attacks]
    of_others = Attack("idle", _idle).place
    assert [attack.name for attack in attacks if attack.place >= of_others] == []
    places = Counter((attack.occasion, attack.place) for attack in attacks)
    assert [place for place, count in places.items() if count > 1] == []


def test_two_attacks_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="attack 'kill-worker' of fault 'idle' is there twice: rename one"):
        draw_plan(1, _swarm_with(Attack("kill-worker", _idle)))
