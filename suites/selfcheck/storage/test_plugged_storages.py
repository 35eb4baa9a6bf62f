"""A checkpoint storage of somebody else's keeps what the reference runtime stores, and is judged under faults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from holdfast.faults.membership import supersede
from holdfast.faults.process import kill
from holdfast.faults.storage import storage_error
from holdfast.fixtures.reference.drivers.storage_audit import clear
from holdfast.fixtures.reference.plugged import PlacedStorage
from holdfast.fixtures.storages import memory
from holdfast.fixtures.storages.file_system import FileMedium
from holdfast.fixtures.storages.stored_files import Seal, put, writer_of
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model import profile
from holdfast.harness.model.capability import Capability
from holdfast.harness.model.case import Tier
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.target import COORDINATOR
from holdfast.suites.conformance.incremental import INCREMENTAL
from holdfast.suites.conformance.plans import STATE_IN_FILES, TOLERANT, TWO_RETAINED, WORKERS, gate, plan
from holdfast.suites.selfcheck.replaced_runs import counting_run

RESTARTED = plan(
    kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=3), options={**INCREMENTAL, **TWO_RETAINED}
)
STRUCK = plan(
    storage_error("write-state", 1_000, {"occurrences": 2, "after_effect": 1}, after_checkpoint=1),
    options={**INCREMENTAL, **TOLERANT},
)
"""Two answers are lost, and the same files are written again."""
SUPERSEDED = plan(supersede(200, after_checkpoint=2, gate=gate("publish-metadata", COORDINATOR)), options=INCREMENTAL)
UNDECIDED = plan(
    storage_error("publish-metadata", 1_000, {"occurrences": 1, "answer_lost": 1}, after_checkpoint=1),
    options={**INCREMENTAL, **TOLERANT},
)
"""A publication that did not happen is looked for."""
HALF_PUBLISHED = plan(
    kill(COORDINATOR, after_checkpoint=1, gate=gate("during-publish-metadata", COORDINATOR)), options=STATE_IN_FILES
)
KILLED = plan(kill(WORKERS[0], after_checkpoint=1), kill(COORDINATOR, after_checkpoint=2), options=STATE_IN_FILES)


def plugged(storage: str) -> Any:
    """The reference runtime with it."""
    return registry.system(f"reference+storage={storage}")


def refuted(storage: str, aimed: Plan, tier: Tier, folder: Path) -> Mapping[str, str]:
    """By oracle and clause, what is found of a run."""
    run = counting_run(aimed, plugged(storage), tier, folder)
    return {f"{each.oracle}/{found.clause}": found.message for each in run.verdicts for found in each.anomalies}


FILES = "holdfast.fixtures.storages.file_system:file_storage"
STRANGE = "holdfast.suites.selfcheck.certify.strange_storage:Rows"
WRONG = "holdfast.fixtures.mutants.checkpoint_storages"


@pytest.mark.parametrize(
    ("storage", "said"),
    [
        ("no_such_module:storage", "checkpoint storage 'no_such_module:storage' cannot be loaded"),
        ("ftp://somewhere/else", "checkpoint storage 'ftp://somewhere/else' has no known scheme"),
        ("memory://here?budget=1", "option 'budget' is unknown"),
        (f"{FILES}@s3://bucket", "is no folder"),
    ],
)
def test_what_cannot_be_plugged_in_is_one_sentence(storage: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        plugged(storage)
    assert said in str(raised.value)


def test_another_contract_is_refused() -> None:
    with pytest.raises(UsageError, match="'disk' cannot be plugged into the reference runtime"):
        registry.system("reference+disk=somewhere:else")


def test_where_it_runs_and_what_it_lacks() -> None:
    system = plugged("memory://here")
    assert set(system.capabilities) == {Tier.SIM, Tier.PROCESS}
    assert Capability.DAMAGE_CHECKPOINT not in system.capabilities[Tier.SIM]
    assert system.supplied_by_author == ("checkpoint storage",)
    assert system.objection(plan(), Tier.SIM) == ""
    assert "is gone with its process" in system.objection(plan(), Tier.PROCESS)
    assert "a simulated call of storage memory is whole" in system.objection(HALF_PUBLISHED, Tier.SIM)
    assert plugged(FILES).objection(HALF_PUBLISHED, Tier.PROCESS) == ""


def test_the_directory_of_a_plan_may_say_where(tmp_path: Path) -> None:
    system = plugged(profile.DIRECTORY)
    there = plan(options={profile.DIRECTORY: tmp_path.as_uri()})
    assert system.objection(there, Tier.PROCESS) == ""
    unknown = plan(options={profile.DIRECTORY: "s3p://bucket/checkpoints"})
    assert "has no known scheme" in system.objection(unknown, Tier.PROCESS)


@pytest.mark.parametrize("storage", ["memory://here", pytest.param(STRANGE, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("aimed", [RESTARTED, STRUCK, SUPERSEDED, UNDECIDED])
def test_a_right_one_is_not_refuted(storage: str, aimed: Plan, tmp_path: Path) -> None:
    assert refuted(storage, aimed, Tier.SIM, tmp_path) == {}


def test_nothing_is_left_of_a_run_that_is_over(tmp_path: Path) -> None:
    refuted("memory://left", RESTARTED, Tier.SIM, tmp_path)
    left = [place for name, place in memory._places.items() if name.startswith("left/")]
    assert left
    assert not any(place.files for place in left)


def test_a_file_that_came_too_late_goes_with_the_run(tmp_path: Path) -> None:
    """Its writer died between its publication and its look at the claims."""
    placed = PlacedStorage("", tmp_path.as_uri())
    newer = placed.of("job-0")
    newer.claim(2)
    newer.finish(8, 2, b"metadata")
    path = "chk-7/late"
    mark = Seal(crc32(b"late"), len(b"late"), 1, writer_of(path, b"token"))
    put(FileMedium(tmp_path, "job-0"), path, b"late" + mark.encoded())
    assert list(newer.list_folder("")) == ["chk-8/_metadata"]
    clear(placed, 1)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("wrong", "aimed", "clause"),
    [
        ("epochs:NeverFenced", SUPERSEDED, "FENCE/superseded-completed"),
        pytest.param("epochs:ForgetsTheOlder", RESTARTED, "REACH/file-missing", marks=pytest.mark.nightly),
        ("streams:StoresAgain", STRUCK, "SNAPSHOT/aborted-file-left"),
        ("places:DropsEverythingOf", STRUCK, "REACH/file-missing"),
        ("places:HidesMetadata", RESTARTED, "REACH/file-missing"),
        ("places:NewestForMissing", UNDECIDED, "LIVE/end-not-reached"),
        pytest.param("places:SaysItFailed", RESTARTED, "COUNT/refused-by-store", marks=pytest.mark.nightly),
        pytest.param("contents:AbsolutePaths", RESTARTED, "LIVE/no-new-checkpoints", marks=pytest.mark.nightly),
    ],
)
def test_a_wrong_one_is_refuted(wrong: str, aimed: Plan, clause: str, tmp_path: Path) -> None:
    assert clause in refuted(f"{WRONG}.{wrong}", aimed, Tier.SIM, tmp_path)


@pytest.mark.nightly
@pytest.mark.tier("process")
@pytest.mark.parametrize("storage", [FILES, STRANGE])
def test_a_right_one_is_not_refuted_on_processes(storage: str, tmp_path: Path) -> None:
    assert refuted(storage, KILLED, Tier.PROCESS, tmp_path) == {}


@pytest.mark.nightly
@pytest.mark.tier("process")
@pytest.mark.parametrize("storage", [FILES, STRANGE])
def test_a_publication_that_breaks_off_leaves_nothing(storage: str, tmp_path: Path) -> None:
    assert refuted(storage, HALF_PUBLISHED, Tier.PROCESS, tmp_path) == {}


@pytest.mark.tier("process")
def test_a_publication_in_place_is_refuted(tmp_path: Path) -> None:
    found = refuted(f"{WRONG}.streams:MetadataInPlace", HALF_PUBLISHED, Tier.PROCESS, tmp_path)
    assert "LIVE/end-not-reached" in found
