"""Each wrong storage is refuted by the check that is meant for it, which every right one passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from tempfile import TemporaryDirectory

import pytest

from holdfast.fixtures.mutants.checkpoint_storages import VARIANTS
from holdfast.fixtures.mutants.checkpoint_storages.on_files import OnFiles, WithRecords
from holdfast.harness.model.status import Status
from holdfast.suites.certify import checkpoint_storage
from holdfast.suites.certify.check import CheckVerdict
from holdfast.suites.certify.checkpoint_storage import judge
from holdfast.suites.selfcheck.certify.strange_storage import MISTAKES
from holdfast.suites.selfcheck.certify.written import refuting

CHECKS = {check.id: check for check in checkpoint_storage.CHECKS}
KILLED_BY = {
    "visible-while-written": "STO-01/invisible",
    "answers-as-before": "STO-02/deleted",
    "compares-the-beginning": "STO-01/published",
    "overwrites": "STO-02/exclusive",
    "looks-at-create": "STO-08/one-name",
    "same-token-is-enough": "STO-02/exclusive",
    "transient-for-taken": "STO-02/exclusive",
    "no-tokens": "STO-09/retried",
    "stores-again": "STO-09/retried",
    "publishes-once": "CRD-11/unknown-outcome",
    "cancel-leaves-parts": "STO-02/cancelled",
    "cancel-takes-the-committed": "STO-02/cancelled",
    "cancel-takes-anybodys": "STO-02/losers",
    "one-file-for-all": "STO-07/side-by-side",
    "leaves-the-lost": "STO-02/given-up",
    "deletes-once": "STO-02/deleted",
    "deletes-by-beginning": "STO-02/deleted",
    "deletes-up-to-the-missing": "STO-02/deleted",
    "whatever-is-there": "STO-06/written-anew",
    "says-it-failed": "STO-02/deleted",
    "missing-is-empty": "STO-02/deleted",
    "any-name": "STO-02/names",
    "names-without-case": "STO-02/names",
    "works-when-closed": "STO-02/closed",
    "unchecked": "STO-06/damaged",
    "only-lengths": "STO-06/damaged",
    "checks-the-first-mebibyte": "STO-06/far-in",
    "leaves-the-tried": "STO-02/failed-commit",
    "deletes-in-silence": "STO-02/failed-delete",
    "drops-in-silence": "STO-03/failed-drop",
    "finishes-once": "CRD-11/failed-finish",
    "metadata-unchecked": "STO-06/damaged",
    "metadata-of-any-place": "STO-06/exchanged",
    "metadata-ends-early": "STO-06/damaged",
    "ranges-of-one-more": "STO-07/ranges",
    "ranges-are-cut": "STO-07/ranges",
    "loses-the-last-piece": "STO-07/small-pieces",
    "one-part": "STO-07/round-trip",
    "absolute-paths": "SAV-01/moved",
    "forgets-its-limit": "SBK-07/longest",
    "one-byte-less": "SBK-07/longest",
    "half-of-its-limit": "SBK-07/longest",
    "inline-below": "STO-04/inline",
    "inline-nothing": "STO-04/inline",
    "never-fenced": "STO-05/fenced",
    "fenced-at-create": "STO-05/fenced",
    "forgets-the-older": "STO-05/fenced",
    "removes-are-free": "STO-05/fenced",
    "epochs-as-text": "STO-08/claims",
    "claims-once": "STO-08/claims",
    "claims-anew": "STO-08/claims",
    "jobs-share": "STO-08/jobs",
    "jobs-without-slash": "STO-08/jobs",
    "jobs-without-case": "STO-08/jobs",
    "jobs-without-signs": "STO-08/names",
    "jobs-are-cut": "STO-08/names",
    "replaces-metadata": "STO-01/published",
    "newer-publishes-again": "STO-01/another-epoch",
    "remembers-its-own": "STO-08/one-checkpoint",
    "one-thread": "STO-08/one-storage",
    "cleans-up-at-once": "STO-01/invisible",
    "lists-by-beginning": "STO-03/listed",
    "keeps-what-is-removed": "STO-03/room",
    "as-they-come": "STO-03/listed",
    "absent-folder-raises": "STO-03/listed",
    "drops-by-beginning": "STO-03/dropped",
    "drops-everything-of-it": "STO-03/dropped",
    "drops-metadata-alone": "STO-03/dropped",
    "hides-dots": "STO-03/listed",
    "leaves-dots": "STO-03/dropped",
    "cuts-names": "STO-02/names",
    "one-reader-for-all": "STO-07/in-turns",
    "holds-open": "STO-02/freed",
    "hides-metadata": "STO-03/dropped",
    "folders-alone": "STO-10/pointers",
    "any-file": "STO-10/pointers",
    "empty-for-missing": "STO-10/pointers",
    "newest-for-missing": "STO-10/pointers",
    "ignores-options": "CFG-05/options",
    "any-uri": "CFG-05/uris",
    "as-written": "CFG-05/place",
    "from-here": "CFG-05/place",
    "each-slash": "CFG-05/place",
    "found-out-later": "CFG-05/unreachable",
    "of-another-version": "CFG-05/description",
}
BY_OTHER_PROCESSES = {
    "G1-metadata-in-place": "STO-01/crashes",
    "drops-the-metadata-last": "STO-01/half-dropped",
    "claim-is-not-resumed": "STO-08/half-claimed",
    "leaves-uploads": "ASY-05/leaks",
    "looks-first": "STO-02/overtaken",
    "looks-before-alone": "STO-05/late",
    "late-files-count": "STO-05/late",
    "keeps-them-to-itself": "STO-07/another-process",
    "pointers-of-its-own": "RET-03/path-alone",
    "not-synchronised": "ASY-03/synchronised",
    "folder-not-synchronised": "ASY-03/synchronised",
    "first-thousand": "STO-03/many",
    "hides-the-rest": "STO-03/many",
    "resolves-once": "STO-07/seen-again",
    "misses-once": "STO-07/seen-again",
    "asks-once": "STO-05/fenced-elsewhere",
}
"""What takes longer: processes that die, or stand still."""
BY_PROGRAMS = ("forgets-the-older", "drops-by-beginning", "newer-publishes-again")
"""What a random program finds by itself, and shrinks."""
QUICKLY = ("G1-metadata-in-place", "looks-before-alone", "not-synchronised")


@pytest.fixture(autouse=True)
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is written here need not survive a loss of power, nor the test: some wrong parts leave something."""
    with TemporaryDirectory(dir="/dev/shm") as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield


def refuted(variant: str, check: str) -> CheckVerdict:
    verdict = refuting(judge(CHECKS[check], checkpoint_storage.target_of(VARIANTS[variant])))
    assert verdict.witness or check.startswith("CFG-05"), verdict.text
    return verdict


def test_each_variant_is_in_one_table() -> None:
    assert VARIANTS.keys() == KILLED_BY.keys() | BY_OTHER_PROCESSES.keys()
    assert not KILLED_BY.keys() & BY_OTHER_PROCESSES.keys()


def test_each_check_has_something_wrong_to_reject() -> None:
    on_stores = {"STO-09/requests", "STO-02/overtaken-here"}
    elsewhere = {*MISTAKES.values(), "STO-08/program"}
    assert CHECKS.keys() == {*KILLED_BY.values(), *BY_OTHER_PROCESSES.values()} | elsewhere | on_stores


@pytest.mark.parametrize(("variant", "check"), KILLED_BY.items())
def test_it_is_refuted_by_its_check(variant: str, check: str) -> None:
    refuted(variant, check)


@pytest.mark.parametrize("variant", QUICKLY)
def test_other_processes_refute_it(variant: str) -> None:
    refuted(variant, BY_OTHER_PROCESSES[variant])


@pytest.mark.nightly
@pytest.mark.parametrize("variant", [each for each in BY_OTHER_PROCESSES if each not in QUICKLY])
def test_other_processes_refute_it_by_night(variant: str) -> None:
    refuted(variant, BY_OTHER_PROCESSES[variant])


@pytest.mark.nightly
@pytest.mark.parametrize("variant", BY_PROGRAMS)
def test_a_program_that_refutes_it_is_short_and_the_same_again(variant: str) -> None:
    verdict = refuted(variant, "STO-08/program")
    steps = [line for line in verdict.witness if line.startswith("state.")]
    assert 2 <= len(steps) <= 10, verdict.text
    assert refuted(variant, "STO-08/program").reason == verdict.reason


def _cheap(table: Mapping[str, str]) -> list[str]:
    return sorted(set(table.values()))


@pytest.mark.parametrize("check", _cheap(KILLED_BY))
@pytest.mark.share(4)
def test_the_same_check_accepts_the_right_one(check: str) -> None:
    verdict = judge(CHECKS[check], checkpoint_storage.target_of(OnFiles))
    if check == "SBK-07/longest":
        assert verdict.status is Status.NOT_APPLICABLE
        verdict = judge(CHECKS[check], checkpoint_storage.target_of("memory://certify"))
    assert verdict.status is Status.PASS, verdict.text


@pytest.mark.parametrize("check", ["STO-03/dropped", "STO-03/room", "ASY-05/leaks"])
def test_records_of_what_is_gone_may_stay(check: str) -> None:
    verdict = judge(CHECKS[check], checkpoint_storage.target_of(WithRecords))
    assert verdict.status is Status.PASS, verdict.text


@pytest.mark.nightly
@pytest.mark.parametrize("check", _cheap(BY_OTHER_PROCESSES))
def test_the_same_check_accepts_the_right_one_by_night(check: str) -> None:
    verdict = judge(CHECKS[check], checkpoint_storage.target_of(OnFiles))
    assert verdict.status is Status.PASS, verdict.text
