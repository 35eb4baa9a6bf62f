"""What a certificate says of parts, its own or those of a system, is recomputed as well."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.verification.statements import Kind
from holdfast.harness.engine.verification.verify import exit_code
from holdfast.suites.selfcheck.verification.sending import Content, certificate, edit_log, edit_results, rule, verified

pytestmark = pytest.mark.xdist_group("verify-parts")
"""One process makes the certificates for all."""


@pytest.fixture(scope="module")
def made_by_kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificate of a wrong part."""
    wrong = "holdfast.fixtures.mutants.restart_strategies.fixed:RestartsOnceMore"
    return certificate(tmp_path_factory.mktemp("kit"), 1, f"--restart-strategy {wrong} --area RST --seed 3")


def of_its_kit(change: Callable[[Content], object]) -> Callable[[Path], None]:
    return lambda folder: edit_results(folder, change)


def drop_checks(folder: Path) -> None:
    """What refutes it is left out wherever it stands."""

    def in_results(content: Content) -> None:
        content["cases"] = [each for each in content["cases"] if each["status"] != "FAIL"]

    edit_results(folder, in_results)

    def in_log(lines: list[Content]) -> None:
        lines[:] = [each for each in lines if each.get("check", {}).get("status") != "FAIL"]

    edit_log(folder, in_log)


def make_checks_up(folder: Path) -> None:
    """One for each rule that its kit decides, and none of the kit."""

    def in_log(lines: list[Content]) -> None:
        for each in (each["check"] for each in lines if each["type"] == "check"):
            each.update(id=f"{each['rule']}/made-up", status="PASS", reason="", witness=[])

    edit_log(folder, in_log)


def apply_to_nothing(folder: Path) -> None:
    """All checks but one."""

    def untried(checks: list[Content]) -> None:
        for each in checks[1:]:
            each.update(status="NOT_APPLICABLE", reason="it has none", witness=[])
        checks[0].update(status="PASS", reason="", witness=[])

    edit_log(folder, lambda lines: untried([each["check"] for each in lines if each["type"] == "check"]))


KIT_FORGERIES: dict[str, tuple[Callable[[Path], None], str]] = {
    "title": (of_its_kit(lambda c: c["certificate"].update(title="CERTIFIED")), "the title of"),
    "part": (of_its_kit(lambda c: c.update(system="mypkg:Strategy")), "mypkg:Strategy is stated as"),
    "subject": (of_its_kit(lambda c: c.update(subject="SB")), "the subject of"),
    "level": (of_its_kit(lambda c: c["rules"][0]["rule"].update(level="MAY")), "level of rule of number 1 of rules"),
    "reason": (of_its_kit(lambda c: c["cases"][0].update(reason="well")), "reason of number 1 of cases"),
    "counts": (of_its_kit(lambda c: c["cases"][0].update(runs_passed=9)), "runs passed of number 1 of cases"),
    "decided": (of_its_kit(lambda c: c["certificate"].update(decided=99)), "decided of certificate"),
    "findings": (of_its_kit(lambda c: c.update(findings=[])), "findings of"),
    "checks": (drop_checks, "which checks of"),
    "made up": (make_checks_up, "its kit does not have is stated as"),
    "untried": (apply_to_nothing, "recomputed it is INCONCLUSIVE"),
}


@pytest.mark.parametrize("forgery", KIT_FORGERIES)
@pytest.mark.share(3)
def test_a_forged_certificate_of_a_part_is_refused(forgery: str, made_by_kit: Path, tmp_path: Path) -> None:
    """Most of it was compared with nothing."""
    folder = Path(shutil.copytree(made_by_kit, tmp_path / "sent"))
    forge, words = KIT_FORGERIES[forgery]
    forge(folder)
    statements = verified(folder)
    assert exit_code(statements) == 1
    assert any(words in each for each in statements.of(Kind.CONTRADICTED)), statements.of(Kind.CONTRADICTED)


def test_the_certificate_of_a_part_is_confirmed_as_it_was_made(made_by_kit: Path) -> None:
    statements = verified(made_by_kit)
    assert exit_code(statements) == 0, statements.all
    assert any("follows from" in each for each in statements.of(Kind.CONFIRMED))
    assert any(each.startswith("commands, versions, times and seed of") for each in statements.of(Kind.SENDERS_WORD))


def test_the_first_line_says_what_a_part_is(made_by_kit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A part may have the name of a system."""
    assert execute(["verify", str(made_by_kit)]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(":RestartsOnceMore (RS): REFUSED on sim")


@pytest.fixture(scope="module")
def made_with_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificate of a system with several sinks."""
    return certificate(tmp_path_factory.mktemp("parts"), 0, "reference --tier sim --rule TPC-08 --jobs 1")


def leave_a_part_out(folder: Path) -> None:
    gone: list[str] = []

    def in_results(content: Content) -> None:
        part = content["subjects"][0]["parts"].pop()
        gone.append(f"{part['contract']} {part['factory']}")

    edit_results(folder, in_results)

    def in_log(lines: list[Content]) -> None:
        lines[:] = [each for each in lines if not each.get("kit", "").startswith(gone[0])]

    edit_log(folder, in_log)


def leave_all_parts_out(folder: Path) -> None:
    edit_results(folder, lambda content: content.update(subjects=[]))
    edit_log(folder, lambda lines: lines.__setitem__(slice(None), [each for each in lines if "kit" not in each]))


def choose_less_of_a_part(folder: Path) -> None:
    """As if its rule had been left out of the kit alone."""
    parts = json.loads((folder / "results.json").read_text())["subjects"][0]["parts"]

    def leave_out(content: Content) -> None:
        rule(content, "TPC-08").update(status="UNTESTED", reason="none of its checks was chosen", cases=[])

    for part in parts:
        if part["report"]:
            edit_results((folder / part["report"]).parent, leave_out)


def certify_untried(folder: Path) -> None:
    """A part that has no report."""
    leave_a_part_out(folder)

    def change(content: Content) -> None:
        parts = content["subjects"][0]["parts"]
        parts.append({**parts[0], "factory": "holdfast.fixtures.sinks.database:SqliteUpsertSink", "report": ""})
        parts[-1].update(title="CERTIFIED", missing=[])

    edit_results(folder, change)


PART_FORGERIES: dict[str, tuple[Callable[[Path], None], str]] = {
    "left out": (leave_a_part_out, 'which parts are left out is stated as []; recomputed it is ["sink '),
    "all left out": (leave_all_parts_out, "ran for TPC-08, and what kit sink says of that rule is left out"),
    "less chosen": (choose_less_of_a_part, "ran for TPC-08, and what kit sink says of that rule is left out"),
    "untried": (certify_untried, "of parts of subject SNK is stated as CERTIFIED; recomputed it is PARTIAL"),
    "made up": (
        of_its_kit(lambda c: c["subjects"].append({**c["subjects"][0], "subject": "SB", "parts": []})),
        "which subjects are listed is stated as",
    ),
    "counts": (of_its_kit(lambda c: c["subjects"][0].update(decided=99)), "decided of subject SNK"),
}


@pytest.mark.parametrize("forgery", PART_FORGERIES)
@pytest.mark.share(2)
def test_what_is_said_of_the_parts_of_a_system_follows_from_them(
    forgery: str, made_with_parts: Path, tmp_path: Path
) -> None:
    """Only the titles of those that were listed were compared."""
    assert exit_code(verified(made_with_parts)) == 0
    folder = Path(shutil.copytree(made_with_parts, tmp_path / "sent"))
    forge, words = PART_FORGERIES[forgery]
    forge(folder)
    statements = verified(folder)
    assert exit_code(statements) == 1
    assert any(words in each for each in statements.of(Kind.CONTRADICTED)), statements.of(Kind.CONTRADICTED)
