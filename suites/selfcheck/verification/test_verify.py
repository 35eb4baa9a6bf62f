"""`holdfast verify`: a certificate from somebody else is recomputed, and whatever was done to it is found."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.cases.case_run import CaseRun, run_once
from holdfast.harness.engine.cases.swarm_case import SWARM_ID, case_for
from holdfast.harness.engine.certification.result_log import LoggedRun
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.verification import sent
from holdfast.harness.engine.verification.recount import recount
from holdfast.harness.engine.verification.replays import Plans
from holdfast.harness.engine.verification.sent import Judged
from holdfast.harness.engine.verification.statements import Kind, Statements
from holdfast.harness.engine.verification.verify import exit_code
from holdfast.harness.model.case import Tier
from holdfast.harness.spi.outside_files import PackedLines
from holdfast.suites.selfcheck.verification.sending import (
    Content,
    certificate,
    digest_anew,
    edit_history,
    edit_log,
    edit_results,
    edit_run,
    rule,
    verified,
)

pytestmark = pytest.mark.xdist_group("verify")
"""One process makes the certificate for all."""
RULE = "BAR-03"
ALL = 1_000
Forgery = Callable[[Path, str], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificate of a wrong system, which is refused."""
    return certificate(tmp_path_factory.mktemp("certificate"), 1, f"reference+A3 --tier sim --rule {RULE} --jobs 1")


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it, for one forger."""
    return Path(shutil.copytree(made, tmp_path / "sent"))


def failed_run(folder: Path) -> str:
    content = json.loads((folder / "results.json").read_text())
    return str(next(each["id"] for each in content["runs"] if each["outcome"] == "fail" and not each["shrunk_from"]))


def test_a_certificate_as_it_was_made_is_confirmed_run_by_run(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["verify", str(made), "--replay", str(ALL)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("reference+A3: REFUSED on sim\n")
    for words in (
        "the title REFUSED on sim follow from the cases",
        "of the plan that seed and case give",
        "whole, and judged again with the same result",
        "the digest of all histories follows",
        "of the simulator replayed with the same result",
        "on the sender's word  report.html and the other views",
    ):
        assert words in shown
    assert "contradicted" not in shown
    assert "not checked" not in shown
    assert execute(["verify", str(made), "--replay", "0", "--json", "--seed", "7"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["title"], printed["seed"], printed["exit_code"]) == ("REFUSED on sim", 7, 0)


def flip_title(folder: Path, _: str) -> None:
    edit_results(folder, lambda content: content["certificate"].update(title="CERTIFIED"))


def pass_rule(folder: Path, _: str) -> None:
    def change(content: Content) -> None:
        rule(content, RULE).update(status="PASS", reason="", failed_runs=[])

    edit_results(folder, change)


def pass_case(folder: Path, run: str) -> None:
    """Rule, title and case together: only the runs speak against it."""

    def change(content: Content) -> None:
        pass_rule(folder, run)
        case = next(each for each in content["runs"] if each["id"] == run)["case"]
        for each in content["cases"]:
            if each["case"] == case:
                each.update(status="PASS", reason="", rules={RULE: "PASS"}, runs_failed=0, runs_passed=1)

    edit_results(folder, change)


def change_history(folder: Path, run: str) -> None:
    edit_history(folder, run, b'"time_ns":1', b'"time_ns":2')


def remove_run(folder: Path, run: str) -> None:
    def change(content: Content) -> None:
        content["runs"] = [each for each in content["runs"] if each["id"] != run]

    edit_results(folder, change)


def remove_run_everywhere(folder: Path, run: str) -> None:
    remove_run(folder, run)
    edit_log(folder, lambda lines: lines.remove(next(each for each in lines if _is_of(each, run))))


def exchange_seed(folder: Path, run: str) -> None:
    edit_run(folder, run, lambda result: result.update(run_seed=result["run_seed"] + 50))


def claim_that_it_passed(folder: Path, run: str) -> None:
    edit_run(folder, run, lambda result: result.update(outcome="pass", verdicts=[], reason=""))


def lower_what_is_demanded(folder: Path, run: str) -> None:
    case = run.partition("-sim-")[0]

    def change(content: Content) -> None:
        for each in content["cases"]:
            if each["case"].replace("/", "-") == case:
                each["runs_demanded"] = -1 * each["runs_demanded"] + 1

    edit_results(folder, change)


def count_more_drawn_plans(folder: Path, _: str) -> None:
    edit_results(folder, lambda content: content["certificate"].update(drawn_plans=9_000, failure_bound=3 / 9_000))


def pass_without_a_run(folder: Path, run: str) -> None:
    """What refuted it is gone, as if its case had passed before anything ran."""
    remove_run_everywhere(folder, run)

    def change(content: Content) -> None:
        content["cases"][0].update(status="PASS", reason="", rules={RULE: "PASS"}, rule_reasons={})
        content["cases"][0].update(runs_demanded=0, runs_failed=0)

    edit_results(folder, change)


def pass_a_case_of_its_own(folder: Path, _: str) -> None:
    def change(content: Content) -> None:
        of_mine = {**content["cases"][1], "case": "mine/all", "status": "PASS", "rules": {RULE: "PASS"}}
        content["cases"].append(of_mine)

    edit_results(folder, change)


def try_no_tier(folder: Path, _: str) -> None:
    """Then no case on it counts as cut short."""
    edit_results(folder, lambda content: content["certificate"]["not_tried"].insert(0, "sim"))


def lay_a_link(folder: Path, run: str) -> None:
    place = folder / "runs" / run
    shutil.move(place, folder.parent / "elsewhere")
    place.symlink_to(folder.parent / "elsewhere", target_is_directory=True)


def lead_out_of_the_folder(folder: Path, run: str) -> None:
    edit_run(folder, run, lambda result: result.update(artefacts=f"runs/../../made/runs/{run}"))


def _is_of(line: Content, run: str) -> bool:
    return bool(line["type"] == "run" and line["result"]["id"] == run)


@pytest.mark.parametrize(
    ("forge", "sentence"),
    [
        (flip_title, "the title is stated as CERTIFIED on sim; recomputed it is REFUSED on sim"),
        (pass_rule, f"status of rule {RULE} is stated as PASS; recomputed it is FAIL"),
        (pass_case, "is stated as PASS; recomputed it is FAIL"),
        (change_history, "the content was edited (SHA-256 differs from the manifest)"),
        (remove_run, "took place, and the certificate does not list it"),
        (remove_run_everywhere, "alignment on sim is stated as FAIL; recomputed it is INCONCLUSIVE"),
        (exchange_seed, "is of another plan than number"),
        (claim_that_it_passed, "has another verdict in its folder than in the certificate"),
        (lower_what_is_demanded, "is said not to have run, and it did"),
        (count_more_drawn_plans, "failure bound of the card is stated as 0.000"),
        (pass_without_a_run, "is PASS, and demands no run that could show it"),
        (pass_a_case_of_its_own, "mine/all on process is PASS, and demands no run"),
        (try_no_tier, "tier sim is said not to have been tried, and cases ran on it"),
        (lay_a_link, "is a link; allowed is a folder"),
        (lead_out_of_the_folder, "which is not its place"),
    ],
)
@pytest.mark.share(4)
def test_a_forgery_is_refused_in_one_sentence(folder: Path, forge: Forgery, sentence: str) -> None:
    forge(folder, failed_run(folder))
    statements = verified(folder)
    assert exit_code(statements) == 1
    assert any(sentence in each for each in statements.of(Kind.CONTRADICTED)), statements.of(Kind.CONTRADICTED)


def of_a_case(content: Content) -> Content:
    """One that ran."""
    return next(each for each in content["cases"] if each["runs_demanded"])


EDITS: dict[str, tuple[Callable[[Content], object], str]] = {
    "evidence": (lambda c: c["evidence"].update({"audit": "boundary"}), "evidence of the whole"),
    "claims": (lambda c: c.update(claims="state exactly-once"), "claims of the whole"),
    "profile": (lambda c: c.update(profile="flink-1.14"), "profile of the whole"),
    "interrupted": (lambda c: c.update(interrupted="SIGINT"), "unfinished of the card"),
    "tiers": (lambda c: c["tiers"][1].update(ran=True, reason="", runs=90), "tiers of the whole"),
    "runs of a tier": (lambda c: c["tiers"][0].update(runs=9_000), "runs of number 1 of tiers of the whole"),
    "reason of a case": (lambda c: of_a_case(c).update(reason="well"), "reason of "),
    "cause": (lambda c: of_a_case(c).update(inconclusive_causes={"slow": 1}), "inconclusive causes of "),
    "why it did not run": (
        lambda c: next(each for each in c["cases"] if not each["runs_demanded"]).update(rules={"BAR-04": "PASS"}),
        "rules of ",
    ),
    "demanded": (lambda c: of_a_case(c).update(runs_demanded=1_000), "demands 1000 runs, and the case "),
    "reason of a rule": (lambda c: rule(c, RULE).update(reason="well"), f"reason of rule {RULE}"),
    "cases of a rule": (lambda c: rule(c, RULE).update(cases=[]), f"cases of rule {RULE}"),
    "another rule": (lambda c: c["rules"].pop(), "which rules there are"),
    "findings": (lambda c: c.update(findings=[]), "findings of the whole"),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.share(5)
def test_an_edit_of_what_follows_from_runs_or_system_is_contradicted(edit: str, folder: Path) -> None:
    """All of these were compared with nothing."""
    change, words = EDITS[edit]
    edit_results(folder, change)
    statements = verified(folder)
    assert exit_code(statements) == 1
    assert any(words in each for each in statements.of(Kind.CONTRADICTED)), statements.of(Kind.CONTRADICTED)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: rule(c, RULE)["rule"].update(text="It may do as it likes."),
        lambda c: of_a_case(c).update(purpose="To please."),
        lambda c: c["oracle_titles"].update(BAR="nothing"),
    ],
    ids=("rule", "case", "oracle"),
)
def test_other_words_leave_it_open_for_they_may_be_of_other_code(
    change: Callable[[Content], object], folder: Path
) -> None:
    edit_results(folder, change)
    statements = verified(folder)
    assert exit_code(statements) == 2
    assert any("read otherwise here: edited, or of other code" in each for each in statements.of(Kind.NOT_CHECKED))


def test_one_that_went_on_after_an_interruption_is_confirmed(folder: Path) -> None:
    """A case that was ended is begun anew, and the digest of its first runs is nowhere."""
    (first,) = folder.glob("results-*.jsonl.gz")
    lines = gzip.decompress(first.read_bytes()).splitlines(keepends=True)
    case = next(each for each in map(json.loads, lines) if each["type"] == "case" and each["histories"])
    ended = {**case, "histories": hashlib.sha256().hexdigest()}

    def digest(content: Content) -> None:
        digests = {(e["result"]["case"], e["result"]["tier"]): e["histories"] for e in map(json.loads, lines)
                   if e["type"] == "case"}  # fmt: skip
        digests[case["result"]["case"], case["result"]["tier"]] = ended["histories"]
        whole = "".join(digests.get((each["case"], each["tier"]), "") for each in content["cases"])
        content["history_digest"] = hashlib.sha256(whole.encode()).hexdigest()

    before = [each for each in lines if json.loads(each) != case]
    first.write_bytes(gzip.compress(b"".join(before)))
    second = first.with_name("results-0002.jsonl.gz")
    second.write_bytes(gzip.compress(lines[0] + json.dumps(ended).encode() + b"\n"))
    edit_results(folder, digest)
    statements = verified(folder)
    assert exit_code(statements) == 0, statements.all
    assert any("of an invocation that was ended" in each for each in statements.of(Kind.SENDERS_WORD))
    second.unlink()
    first.write_bytes(gzip.compress(b"".join([*before, json.dumps(ended).encode() + b"\n"])))
    assert exit_code(verified(folder)) == 1


def test_a_drawn_run_is_of_the_seed_that_its_number_and_the_certificate_give(made: Path) -> None:
    """One that passes cannot be told in its place, nor left out."""
    certificate = sent.SentCertificate(made)
    certificate.journal = msgspec.structs.replace(certificate.journal, system="reference")
    system, tools = registry.system("reference"), registry.toolbox()
    swarm = case_for(system, SWARM_ID, Tier.SIM)
    key = (swarm.id, Tier.SIM)
    first, other = (run_once(CaseRun(swarm, system, Tier.SIM, tools, 1), number).result for number in (0, 7))
    in_place_of_it = msgspec.structs.replace(other, id=first.id, plan_number=0)
    for result, seed, contradicted in ((first, 0, False), (in_place_of_it, 0, True), (first, 1, True)):
        certificate.journal = msgspec.structs.replace(certificate.journal, seed=seed)
        certificate.log = {key: [LoggedRun(0.0, result, None)]}
        statements = Statements()
        Plans(certificate, Judged(certificate.journal, trust=False), {key: swarm}).compare(certificate, statements)
        assert bool(statements.of(Kind.CONTRADICTED)) is contradicted
    certificate.log = {key: [LoggedRun(0.0, other, None)]}
    statements = Statements()
    recount(certificate, Judged(certificate.journal, trust=False), {}, statements)
    assert f"{swarm.id} on sim ran, and the certificate does not list it" in statements.of(Kind.CONTRADICTED)
    listed = msgspec.structs.replace(certificate.journal.cases[0], case=swarm.id, tier=Tier.SIM)
    certificate.journal = msgspec.structs.replace(certificate.journal, cases=(listed,))
    recount(certificate, Judged(certificate.journal, trust=False), {}, statements)
    missing = "run swarm-drawn-plans-sim-0000 is missing: the runs of a case are numbered without a gap"
    assert missing in statements.of(Kind.CONTRADICTED)


def test_a_digest_that_was_made_anew_behind_an_edit_is_found_by_the_replay(folder: Path) -> None:
    run = failed_run(folder)
    digest_anew(folder, run)
    assert exit_code(verified(folder)) == 0  # Nothing is wrong with a forger who changes nothing.
    (folder / "runs" / run / "history" / "inputs.parquet").write_bytes(
        next(
            path.read_bytes()
            for path in (folder / "runs").glob("*/history/outputs.parquet")
            if path.parent.parent.name == run
        )
    )
    change_history(folder, run)
    digest_anew(folder, run)
    statements = verified(folder, ALL)
    assert exit_code(statements) == 1
    assert f"run {run} replayed has another" in " ".join(statements.of(Kind.CONTRADICTED))


def test_without_the_results_of_single_runs_the_title_is_not_confirmed(folder: Path) -> None:
    for path in folder.glob("results-*.jsonl.gz"):
        path.unlink()
    statements = verified(folder)
    assert exit_code(statements) == 2
    assert "the results of single runs are not there" in " ".join(statements.of(Kind.NOT_CHECKED))


def test_the_code_of_a_system_that_nobody_registered_is_not_imported(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "strangers_module.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    edit_results(folder, lambda content: content.update(system="strangers_module:System"))
    edit_run(folder, failed_run(folder), lambda result: result.update(system="strangers_module:System"))
    assert execute(["verify", str(folder), "--replay", "9"]) != 0
    assert "its code is not run without --trust" in capsys.readouterr().out
    assert not (tmp_path / "ran").exists()


def test_what_is_no_certificate_is_wrong_usage(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused() -> str:
        assert execute(["verify", str(folder)]) == 3
        return capsys.readouterr().err

    monkeypatch.setattr(sent, "RESULTS_LIMIT_BYTES", 100)
    assert "allowed are 100: it is no certificate" in refused()
    monkeypatch.undo()
    monkeypatch.setattr(sent, "PackedLines", lambda: PackedLines(100))
    assert "unpacks, with the logs beside it, to more than 100 bytes" in refused()
    monkeypatch.undo()
    (log,) = folder.glob("results-*.jsonl.gz")
    log.write_bytes(b"no archive")
    assert "cannot be read (Not a gzipped file" in refused()
    (folder / "results.json").write_text("[" * 100_000)
    assert "is no whole JSON" in refused()
    (folder / "results.json").unlink()
    os.mkfifo(folder / "results.json")
    assert "there is no results.json in it" in refused()
    shutil.rmtree(folder)
    assert "there is no results.json in it" in refused()


@pytest.mark.nightly
def test_the_certificate_of_real_processes_is_verified(tmp_path: Path) -> None:
    arguments = ["certify", "reference", "--tier", "process", "--rule", "RET-03", "--keep", "all"]
    assert execute([*arguments, "--out", str(tmp_path / "out")]) in (0, 2)
    (made,) = (tmp_path / "out").glob("2*")
    statements = verified(made)
    assert exit_code(statements) == 0, statements.all
    assert any("judged again with the same result" in each for each in statements.of(Kind.CONFIRMED))
    assert any("on real processes recorded" in each for each in statements.of(Kind.SENDERS_WORD))
    run = next(each["id"] for each in json.loads((made / "results.json").read_text())["runs"] if each["artefacts"])
    for forge, words in (
        (flip_title_of_any, "the title is stated as"),
        (change_any_history, f"/runs/{run}/history/"),
        (claim_that_it_failed, "has another verdict in its folder"),
    ):
        folder = Path(shutil.copytree(made, tmp_path / forge.__name__))
        forge(folder, run)
        found = verified(folder)
        assert exit_code(found) == 1
        assert any(words in each for each in found.of(Kind.CONTRADICTED)), found.of(Kind.CONTRADICTED)


def flip_title_of_any(folder: Path, _: str) -> None:
    edit_results(folder, lambda content: content["certificate"].update(title="CERTIFIED", scope="thorough"))


def change_any_history(folder: Path, run: str) -> None:
    edit_history(folder, run, b'"time_ns":', b'"time_ms":')


def claim_that_it_failed(folder: Path, run: str) -> None:
    edit_run(folder, run, lambda result: result.update(outcome="fail"))
