"""Stored plans lead to what they led to when they were stored, and a difference in any field is told."""

from __future__ import annotations

import lzma
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.harness.model.plan import Plan
from holdfast.suites.bench import behaviour as module
from holdfast.suites.bench.behaviour import (
    FIELDS,
    FILE,
    SHARES,
    Stored,
    differences,
    drawn,
    main,
    now,
    packed,
    stored,
)

OTHER = {"findings": ("CUT/record-after-barrier",)}


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Stored:
    """The only plan of a file that takes the place of the stored one."""
    [plan, *_] = stored()
    monkeypatch.setattr(module, "FILE", tmp_path / FILE.name)
    module.FILE.write_bytes(packed([plan]))
    return plan


def otherwise(plan: Stored, field: str) -> Stored:
    """A plan that is said to have led elsewhere."""
    return replace(plan, behaviour=replace(plan.behaviour, **{field: OTHER.get(field, "0")}))


@pytest.mark.share(3)
@pytest.mark.parametrize("part", [f"{number}/250" for number in range(0, 30, 10)])
def test_stored_plans_lead_where_they_led(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--part", part]) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.startswith("8 runs: ")


@pytest.mark.parametrize("field", FIELDS)
def test_what_differs_is_told_and_may_be_allowed(field: str, one: Stored, capsys: pytest.CaptureFixture[str]) -> None:
    module.FILE.write_bytes(packed([otherwise(one, field)]))
    assert main([]) == 1
    assert f"\n{field}: 1 plans differ, such as swarm 1\n" in capsys.readouterr().out
    assert main(["--may", *(each for each in FIELDS if each != field)]) == 1
    assert main(["--may", field]) == 0


def test_what_is_recorded_is_what_the_plans_lead_to_now(one: Stored) -> None:
    before = module.FILE.read_bytes()
    module.FILE.write_bytes(packed([otherwise(one, "trace")]))
    assert main(["--record"]) == 0
    assert module.FILE.read_bytes() == before
    assert main([]) == 0


def test_each_mix_has_its_share_and_each_plan_its_name() -> None:
    plans = stored()
    assert Counter(each.mix for each in plans) == SHARES
    assert len({each.name for each in plans}) == len(plans)


def test_equal_plans_give_equal_bytes() -> None:
    plans = stored()[::100]
    assert packed(plans) == packed(plans)
    lines = lzma.decompress(packed(plans)).splitlines()
    assert set(lines) < set(lzma.decompress(FILE.read_bytes()).splitlines())


def test_a_drawn_plan_leads_twice_to_the_same_and_another_one_elsewhere() -> None:
    one, other = (each for each, _ in zip(drawn("b"), range(2), strict=False))
    again = now(one)
    assert again == one.behaviour
    digests = [field for field in FIELDS if len(getattr(again, field)) > len("inconclusive")]
    assert len(digests) == 4
    assert all(getattr(again, field) != getattr(other.behaviour, field) for field in digests)


def test_a_comparison_of_other_plans_is_refused() -> None:
    [plan, *_] = stored()
    with pytest.raises(ValueError, match="different plans"):
        differences({plan.name: plan.behaviour}, {})


@pytest.mark.parametrize("part", ["2", "2/2", "-1/2"])
def test_what_is_no_part_is_refused(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([f"--part={part}"])
    assert f"{part} is no part: write K/N" in capsys.readouterr().err


def test_an_exception_that_is_handled_behind_a_run_is_told() -> None:
    [plan, *_] = stored()
    seed = msgspec.json.decode(plan.plan, type=Plan).draw_seed
    try:
        raise ValueError("of a run")
    except ValueError:
        with pytest.raises(RuntimeError, match=f"seed {seed}: ValueError"):
            now(plan)
    now(plan)
