"""The kit of file systems: right ones pass it, and each wrong one is refuted by the check that is meant for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast.fixtures.mutants.checkpoint_storages.on_memory import files_of_half_their_limit, files_without_a_lock
from holdfast.fixtures.mutants.file_systems import VARIANTS
from holdfast.fixtures.mutants.file_systems.in_folder import InFolder, WithRecords
from holdfast.fixtures.storages.memory import MAX_STATE
from holdfast.fixtures.storages.on_medium import MEBIBYTE
from holdfast.fixtures.storages.s3 import ENDPOINT, KEYS
from holdfast.fixtures.storages.stored_files import SEAL_BYTES
from holdfast.harness import cli
from holdfast.harness.engine.site.program_share import fewer_programs
from holdfast.harness.model.status import Status
from holdfast.suites.certify import file_system
from holdfast.suites.certify.file_system import judge
from holdfast.suites.certify.outside.kit import AT_ONCE
from holdfast.suites.selfcheck.certify.short_files import LONGEST, ShortFiles, ShortFilesWithoutALock, simulated_files
from holdfast.suites.selfcheck.certify.written import refuting
from holdfast.suites.selfcheck.object_stores import BUCKET, TIERS, object_store
from holdfast.suites.spec import load_rules

if TYPE_CHECKING:
    from holdfast.fixtures.services.object_store import OwnObjectStore

CHECKS = {check.id: check for check in file_system.CHECKS}
KILLED_BY = {
    "overwrites": "STO-02/taken",
    "transient-for-taken": "STO-02/taken",
    "swallows-taken": "STO-02/taken",
    "ends-at-the-first": "STO-02/again",
    "writes-in-place": "STO-02/unseen",
    "abandon-leaves": "STO-02/abandoned",
    "abandon-takes-away": "STO-02/abandoned",
    "nobody-cleans-up": "ASY-05/all-abandoned",
    "begins-anew": "ASY-05/all-abandoned",
    "publishes-in-silence": "STO-02/failed-publish",
    "removes-in-silence": "STO-02/failed-remove",
    "lists-by-pattern": "STO-07/listing",
    "loses-the-end": "STO-07/round-trip",
    "one-upload-for-all": "STO-07/side-by-side",
    "missing-is-empty": "STO-02/missing",
    "ranges-with-the-last": "STO-07/ranges",
    "tail-of-a-whole": "STO-07/ranges",
    "removes-once": "STO-02/removing",
    "removes-folders": "STO-02/removing",
    "removes-later": "STO-07/at-once",
    "remembers-listings": "STO-07/at-once",
    "lists-by-beginning": "STO-07/listing",
    "lists-one-folder": "STO-07/listing",
    "lists-unsorted": "STO-07/listing",
    "lists-one-page": "STO-07/many",
    "one-folder": "STO-08/folders",
    "counts-without-a-lock": "STO-08/threads",
    "forgets-when-closed": "STO-02/unchanged",
    "any-option": "CFG-05/options",
    "any-uri": "CFG-05/uris",
    "changes-its-mind": "CFG-05/description",
}
BY_OTHER_PROCESSES = {
    "looks-first": "STO-02/overtaken",
    "copies-into-place": "STO-01/publishing",
    "not-synchronised": "ASY-03/synchronised",
    "folder-not-synchronised": "ASY-03/synchronised",
    "in-its-memory": "STO-07/another-process",
}
ON_OTHERS = {"STO-09/requests", "SBK-07/longest", "STO-02/overtaken-here"}
"""What a folder has not: a wire, a limit, an end with its process."""
SHORT = (1_100, 12_000, 70_000, 11 * MEBIBYTE - SEAL_BYTES)
"""Longest files of a storage there, whose seals need room as well: below, between and exactly what checks write."""
QUICK = (
    "overwrites",
    "missing-is-empty",
    "lists-by-beginning",
    "abandon-leaves",
    "not-synchronised",
    "any-option",
    "begins-anew",
    "publishes-in-silence",
    "removes-in-silence",
    "lists-by-pattern",
)
NIGHTLY = pytest.mark.nightly

test_memory = NIGHTLY(file_system.kit("memory://certify-files"))
test_file = NIGHTLY(file_system.kit("file:///dev/shm"))
test_simulated_disk = file_system.kit(simulated_files, "simulated://kit")


def test_checks_that_go_on_at_once_are_told_in_their_order_and_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [CHECKS[name] for name in ("STO-02/taken", "STO-07/listing", "STO-02/unseen", "CFG-05/options")]
    monkeypatch.setitem(AT_ONCE, "memory", len(chosen))
    verdicts = list(file_system.certify(file_system.target_of("memory://certify-at-once"), chosen))
    assert [(each.check, each.status) for each in verdicts] == [(check, Status.PASS) for check in chosen]


def test_threads_that_look_without_a_lock_are_refuted() -> None:
    verdict = judge(CHECKS["STO-02/overtaken-here"], file_system.target_of(files_without_a_lock, "memory://two-steps"))
    assert verdict.status is Status.FAIL, verdict.text
    right = judge(CHECKS["STO-02/overtaken-here"], file_system.target_of("memory://certify-files"))
    assert right.status is Status.PASS, right.text


@pytest.mark.parametrize("longest", SHORT)
@pytest.mark.share(4)
def test_what_declares_room_for_short_files_alone_is_asked_for_no_longer_ones(longest: int) -> None:
    target = file_system.target_of("memory://short-files", options={MAX_STATE: str(longest)})
    with fewer_programs(1 / 8):
        verdicts = list(file_system.certify(target))
    assert [each.text for each in verdicts if each.status not in (Status.PASS, Status.NOT_APPLICABLE)] == []
    tried = {each.check.id for each in verdicts if each.status is Status.PASS}
    assert tried >= {"STO-02/program", "SBK-07/longest", "ASY-05/all-abandoned"}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("longest", [2_000, 12_000])
@pytest.mark.share(8)
def test_no_check_is_left_out_where_files_are_short(longest: int, check: str) -> None:
    target = file_system.target_of(ShortFiles, options={LONGEST: str(longest)})
    with fewer_programs(1 / 8):
        verdict = judge(CHECKS[check], target)
    allowed = Status.NOT_APPLICABLE if check in ON_OTHERS - {"SBK-07/longest"} else Status.PASS
    assert verdict.status is allowed, verdict.text


def test_threads_that_share_an_upload_are_refuted_where_files_are_short() -> None:
    check, options = CHECKS["STO-08/threads"], {LONGEST: "8192"}
    refuting(judge(check, file_system.target_of(ShortFilesWithoutALock, options=options)))
    right = judge(check, file_system.target_of(ShortFiles, options=options))
    assert right.status is Status.PASS, right.text


def test_what_takes_half_of_what_it_declares_is_refuted() -> None:
    verdict = judge(CHECKS["SBK-07/longest"], file_system.target_of(files_of_half_their_limit, "memory://half"))
    assert verdict.status is Status.FAIL, verdict.text
    assert "max_file_bytes is 6000" in verdict.reason
    right = judge(CHECKS["SBK-07/longest"], file_system.target_of("memory://whole", options={MAX_STATE: "12000"}))
    assert right.status is Status.PASS, right.text


@pytest.fixture(autouse=True)
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written here need not survive a loss of power."""
    monkeypatch.setattr("tempfile.tempdir", "/dev/shm")


def test_every_rule_of_file_systems_has_a_check() -> None:
    assert {rule.id for rule in load_rules() if "FS" in rule.subjects} == {check.rule for check in file_system.CHECKS}


def test_each_variant_is_in_one_table() -> None:
    assert VARIANTS.keys() == KILLED_BY.keys() | BY_OTHER_PROCESSES.keys()
    assert not KILLED_BY.keys() & BY_OTHER_PROCESSES.keys()


def test_each_check_has_something_wrong_to_reject() -> None:
    by_the_same = {"STO-08/one-path", "STO-02/program", "ASY-05/leaks", "STO-01/removing"}
    by_wrong_storages = {"CFG-05/unreachable", "CFG-05/place"}
    assert (
        CHECKS.keys()
        == {*KILLED_BY.values(), *BY_OTHER_PROCESSES.values()} | by_the_same | by_wrong_storages | ON_OTHERS
    )


@pytest.mark.parametrize(
    ("variant", "check"),
    [
        pytest.param(variant, check, marks=() if variant in QUICK else NIGHTLY)
        for variant, check in (KILLED_BY | BY_OTHER_PROCESSES).items()
    ],
)
def test_it_is_refuted_by_its_check(variant: str, check: str) -> None:
    verdict = refuting(judge(CHECKS[check], file_system.target_of(VARIANTS[variant])))
    assert verdict.witness or check.startswith("CFG-05"), verdict.text


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, marks=() if check in {KILLED_BY.get(variant) for variant in QUICK} else NIGHTLY)
        for check in CHECKS
    ],
)
def test_the_same_check_accepts_the_right_one(check: str) -> None:
    verdict = judge(CHECKS[check], file_system.target_of(InFolder))
    assert verdict.status in (Status.PASS, Status.NOT_APPLICABLE), verdict.text
    assert (verdict.status is Status.NOT_APPLICABLE) == (check in ON_OTHERS)


@pytest.mark.parametrize("check", ["STO-02/abandoned", "ASY-05/all-abandoned", "ASY-05/leaks"])
def test_records_of_what_is_gone_may_stay(check: str) -> None:
    verdict = judge(CHECKS[check], file_system.target_of(WithRecords))
    assert verdict.status is Status.PASS, verdict.text


def test_a_name_that_leads_nowhere_is_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"file system 'nothing://place' has no known scheme; known: file://, hdfs://"):
        file_system.target_of("nothing://place")


@NIGHTLY
def test_the_command_refuses_a_wrong_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "holdfast.fixtures.mutants.file_systems.files:MissingIsEmpty"
    assert cli.execute(["certify", "--file-system", wrong, "--rule", "STO-02", "--out", str(tmp_path)]) == 1
    assert "STO-02/missing" in capsys.readouterr().out


@pytest.fixture(scope="module")
def hdfs() -> Iterator[str]:
    from holdfast.fixtures.services.processes.installation import missing
    from holdfast.fixtures.services.processes.own_process import Session
    from holdfast.fixtures.services.site import HDFS
    from holdfast.suites.selfcheck.services.hdfs import Hdfs

    pytest.importorskip("hdfs_native", reason="the extra hdfs is not installed")
    if absent := missing(HDFS):
        pytest.skip(absent)
    with closing(Session()) as session:
        made = Hdfs(session)
        made.start()
        yield made.uri


@NIGHTLY
@pytest.mark.timeout(900)
@pytest.mark.tier("process")
@pytest.mark.parametrize("check", CHECKS)
def test_hdfs(hdfs: str, check: str) -> None:
    verdict = judge(CHECKS[check], file_system.target_of(f"{hdfs}/certify"))
    if verdict.status is Status.NOT_APPLICABLE:
        pytest.skip(verdict.reason)
    assert verdict.status is Status.PASS, verdict.text


@pytest.fixture(scope="module", params=TIERS)
def store(request: pytest.FixtureRequest) -> Iterator[OwnObjectStore]:
    with object_store(request.param) as made:
        yield made


@NIGHTLY
@pytest.mark.parametrize("check", CHECKS)
def test_object_store(store: OwnObjectStore, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in zip(KEYS, (store.keys.access_key, store.keys.secret_key), strict=True):
        monkeypatch.setenv(name, key)
    target = file_system.target_of(f"s3://{BUCKET}/certify", options={ENDPOINT: store.external})
    verdict = judge(CHECKS[check], target)
    if verdict.status is Status.NOT_APPLICABLE:
        pytest.skip(verdict.reason)
    assert verdict.status is Status.PASS, verdict.text
