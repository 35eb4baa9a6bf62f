"""Whatever is wrong with a file, a command ends in time, with one sentence and the right exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness.engine.site import services
from holdfast.harness.engine.site.foreign import let_pass
from holdfast.suites.selfcheck.abuse.mutations.driving import HungError, violation
from holdfast.suites.selfcheck.abuse.mutations.kinds import KINDS

FEW, MANY = 20, 1_000


@pytest.fixture(autouse=True)
def no_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep would look for those of others a thousand times."""
    monkeypatch.setattr(services, "service_provider", lambda: None)


def violations(name: str, numbers: range, folder: Path) -> list[str]:
    let_pass(HungError)
    kind, whole, room = KINDS[name], folder / "whole", folder / "room"
    whole.mkdir()
    room.mkdir()
    (room / "beside").write_text("of somebody else")
    kind.make(whole)
    return [found for number in numbers if (found := violation(kind, name, number, whole, room))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.share(5)
def test_few_mutations_do_no_harm(kind: str, tmp_path: Path) -> None:
    assert violations(kind, range(FEW), tmp_path) == []


@pytest.mark.nightly
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("kind", KINDS)
def test_many_mutations_do_no_harm(kind: str, tmp_path: Path) -> None:
    assert violations(kind, range(FEW, FEW + MANY), tmp_path) == []
