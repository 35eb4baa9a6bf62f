"""The command line: exit codes, one sentence for whatever is wrong, and nothing left half-written."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.harness import cli
from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.reports import free_folder, new_folder
from holdfast.harness.engine.artefacts.json_files import write_plan
from holdfast.harness.engine.artefacts.owner import OURS, Owner, claim, owner_lives, owner_of
from holdfast.harness.engine.artefacts.stored_run import open_run_folder
from holdfast.harness.engine.certification.run_store import RUNS
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.executor.run_folder import WORK
from holdfast.harness.engine.nights.night_folder import tidy
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.swarm.draw import draw_plan
from holdfast.harness.model.journal import Journal, Status, Title
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.suites.selfcheck.marks import sweeps
from holdfast.suites.selfcheck.printed_commands import commands_by_file

REFERENCE_PLAN = replace(draw_plan(3), faults=draw_plan(3).faults[:1])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["certfy"], "No such command 'certfy'. Did you mean 'certify', 'verify'? See holdfast --help."),
        (["job", "lst"], "No such command 'lst'. Did you mean 'list'? See holdfast job --help."),
        (["certify", "--sinks", "m:S"], "--json, --runs, --sink). See holdfast certify --help."),
        (["certify", "reference", "--seed", "x"], "Invalid value for '--seed'"),
        (["certify", "reference", "--tier", "smi"], "Invalid value for '--tier': 'smi' is not one of 'sim', 'process'"),
        (["certify", "nonesuch"], "unknown system 'nonesuch'; known: "),
        (["certify", "reference+Z9"], "system 'reference+Z9': "),
        (
            ["certify", "reference", "--rule", "BAR-99"],
            f"unknown rule 'BAR-99'; the nearest of {len(registry.rules())} are BAR-",
        ),
        (["certify", "reference", "--area", "BARS"], "unknown area 'BARS'"),
        (["certify", "reference", "--budget", "soon"], "--budget: 'soon' is not a duration"),
        (["certify", "reference", "--budget", "60"], "--budget is '60', a number without a unit; write 60s or 60min."),
        (["certify", "reference", "--require", "all"], "--require is 'all'; allowed is certified"),
        (["campaign", "reference", "--seeds", "0-5"], "--seeds is '0-5'; allowed is FIRST-LAST"),
        (["campaign", "reference", "--withdraw", "x"], "--withdraw is 'x'; allowed is SEED=REASON"),
        (["campaign", "spark"], "system 'spark' is on no simulator"),
        (["run", "nonesuch.json"], "nonesuch.json: cannot be read"),
        (["replay", "nowhere"], "plan.json: cannot be read"),
        (["judge", "nowhere"], "plan.json: cannot be read"),
        (["rules", "BAR-99"], "unknown rule 'BAR-99'"),
        (["rules", "--area", "BARS"], "unknown area 'BARS'"),
        (["mutants", "Z9"], "unknown mutant 'Z9'"),
        (["mutants", "missing-commit"], "not on the list of mutants: use `holdfast certify reference+missing-commit`"),
        (["mutants", "json:loads"], "unknown mutant 'json:loads'"),
        (["pictures", "--system", "persists-first"], "use --system reference, or name the folder of a stored run"),
        (["config", "check", "nowhere.yaml"], "nowhere.yaml: cannot be read"),
        (["config", "check", __file__], "test_cli.py' is of no known kind: name it flink-conf.yaml or config.yaml"),
        (["config", "check", __file__, "--set", "interval"], "--set is 'interval': write KEY=VALUE"),
        (["config", "check", __file__, "--system", "persists-first"], "system 'persists-first' reads no configuration"),
    ],
    ids=range(28),
)
def test_wrong_usage_is_one_sentence_and_exit_code_3(
    arguments: list[str], sentence: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.execute(arguments) == cli.WRONG_USAGE
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert list(here.iterdir()) == []


def test_what_breaks_in_the_harness_is_exit_code_4(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("holdfast.harness.commands.doctor.examine", lambda: 1 // 0)
    assert cli.execute(["doctor"]) == cli.HARNESS_ERROR
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from holdfast.harness import cli; cli.execute(['--help']); cli.execute(['certify', '--help']);"
        "print([name for name in ('numpy', 'pyarrow', 'rich') if name in sys.modules]); cli.execute(['doctor']);"
        "print([name for name in ('pyarrow', 'rich', 'holdfast.suites.chaos') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines().count("[]") == 2
    assert "certify" in done.stdout


def test_run_replay_and_judge_agree(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_plan(here / "plan.json", REFERENCE_PLAN)
    assert cli.execute(["run", "plan.json", "--tier", "sim"]) == 0
    stored = next((here / "holdfast-out").iterdir())
    assert {path.name for path in stored.iterdir()} == {"plan.json", "history", "verdicts.json"}
    capsys.readouterr()
    assert cli.execute(["replay", str(stored)]) == 0
    assert "same trace: " in capsys.readouterr().out
    assert cli.execute(["judge", str(stored)]) == 0
    assert capsys.readouterr().out.count("PASS") == 1
    for command in ("replay", "judge", "pictures"):  # As a report names it, which lies below the output folder.
        assert cli.execute([command, stored.name]) == 0
    capsys.readouterr()
    edited = (stored / "verdicts.json").read_bytes().replace(b'"trace_hash": "', b'"trace_hash": "0')
    (stored / "verdicts.json").write_bytes(edited)
    assert cli.execute(["replay", str(stored)]) == cli.HARNESS_ERROR
    assert "another trace" in capsys.readouterr().out


def test_a_mutant_is_refuted_with_a_replay_line(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.execute(["certify", "reference+A3", "--tier", "sim", "--rule", "BAR-03", "--out", "out"]) == 1
    journal = msgspec.json.decode((here / "out" / "latest" / "results.json").read_bytes(), type=Journal)
    assert journal.certificate.title is Title.REFUSED
    failed = [run for run in journal.runs if run.outcome == "fail"]
    assert failed
    printed = re.findall(r"^  next +(holdfast .*)", capsys.readouterr().out, re.MULTILINE)
    assert len(printed) == len(journal.findings)
    assert [cli.execute(shlex.split(each)[1:]) for each in printed] == [1] * len(printed)
    capsys.readouterr()
    finding = journal.findings[0]
    assert "BAR-03" in finding.rules
    assert finding.next is not None
    for folder in (here / "out" / "latest", here / "out"):
        monkeypatch.chdir(folder)
        assert cli.execute(failed[0].replay.split()[1:]) == 1
        assert "same trace" in capsys.readouterr().out
    named = commands_by_file(here / "out" / "latest")
    wanted = sorted(each.next.line_in_report() for each in journal.findings if each.next is not None)
    assert {file: sorted(commands) for file, commands in named.items()} == dict.fromkeys(named, wanted)
    shrunk = {run.id: run for run in journal.runs}[finding.run]
    assert shrunk.finding is not None
    assert shrunk.shrunk_from
    assert shrunk.finding.damage is finding.damage
    assert (shrunk.finding.cause and shrunk.finding.cause.name) == (finding.cause and finding.cause.name)
    # They work where the files lie, whatever the folder is called by now.
    moved = (here / "out" / "latest").resolve().rename(here / "report")
    monkeypatch.chdir(moved)
    commands = re.findall(r"^holdfast .*", (moved / "summary.md").read_text(), re.MULTILINE)
    assert len(commands) == sum(each.next is not None for each in journal.findings) > 0
    assert [cli.execute(shlex.split(each)[1:]) for each in commands] == [1] * len(commands)


@pytest.mark.nightly
def test_one_defect_that_refutes_rules_in_several_cases_is_one_finding_in_every_file(here: Path) -> None:
    wrong, rules = "reference+aborts-completed-transactions", ("--rule", "BAR-08", "--rule", "BAR-05")
    assert cli.execute(["certify", wrong, "--tier", "sim", *rules, "--out", "out"]) == 1
    journal = msgspec.json.decode((here / "out" / "latest" / "results.json").read_bytes(), type=Journal)
    (finding,) = journal.findings
    assert {"BAR-08", "CRD-01"} <= set(finding.rules)
    assert len(finding.cases) > 1
    named = commands_by_file(here / "out" / "latest")
    assert {file: len(commands) for file, commands in named.items()} == dict.fromkeys(named, 1)


def test_certify_narrowed_to_a_rule_and_whose_statuses_rules_shows(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = (["rules"], ["rules", "BAR-09"])
    for asked in questions:
        assert cli.execute(asked) == 0
        assert capsys.readouterr().out.splitlines()[0] == "statuses: nothing was certified below holdfast-out yet"
    assert cli.execute(["certify", "reference", "--tier", "sim", "--rule", "BAR-09", "--json"]) == 0
    journal = msgspec.json.decode(capsys.readouterr().out, type=Journal)
    assert journal.certificate.title is Title.PARTIAL
    assert {rule.rule.id for rule in journal.rules if rule.status is Status.PASS} == {"BAR-09"}
    assert (here / "holdfast-out" / "latest" / "report.html").is_file()
    for asked in questions:
        assert cli.execute(asked) == 0
        header = capsys.readouterr().out.splitlines()[0]
        assert header == f"statuses: reference, started {journal.started}, by {journal.command}"
    assert cli.execute(["certify", "reference", "--tier", "sim", "--rule", "BAR-09", "--require", "certified"]) == 2


def test_a_place_that_may_not_be_looked_at_is_refused_with_advice(tmp_path: Path) -> None:
    """As root there is none but this: what is asked of a name that is too long is refused, as in a folder of others."""
    with pytest.raises(UsageError, match=r"no folder can be made in it \(File name too long\); choose another one"):
        new_folder(tmp_path / ("x" * 300))


def test_free_folder_never_names_one_that_exists(tmp_path: Path) -> None:
    first = free_folder(tmp_path)
    first.mkdir()
    assert free_folder(tmp_path) != first


@sweeps
def test_sweep_removes_what_a_killed_harness_left_and_nothing_else(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lives = open_run_folder(here / "holdfast-out" / "a" / "runs" / "one", REFERENCE_PLAN)
    left = open_run_folder(here / "holdfast-out" / "a" / "runs" / "two", REFERENCE_PLAN)
    (left / "owner.json").write_bytes(msgspec.json.encode(Owner(2**22 + 5, 1, OURS)))
    assert owner_lives(lives)
    assert not owner_lives(left)
    assert cli.execute(["sweep"]) == 0
    assert "two.part: removed." in capsys.readouterr().out
    assert (lives.exists(), left.exists()) == (True, False)
    assert cli.execute(["sweep"]) == 0
    assert "nothing to sweep" in capsys.readouterr().out


def test_an_owner_is_known_by_its_start_time_and_its_place_too(tmp_path: Path) -> None:
    """Of another container nobody here can know whether it lives, so its folder is neither taken nor swept."""
    folder = open_run_folder(tmp_path / "run", REFERENCE_PLAN)
    ours = owner_of(folder)
    assert ours is not None
    for owner, lives in (
        (ours, True),
        (replace(ours, place=""), True),
        (replace(ours, start_time=1), False),
        (replace(ours, start_time=1, place="0123456789ab"), True),
    ):
        (folder / "owner.json").write_bytes(msgspec.json.encode(owner))
        assert owner_lives(folder) is lives
        assert claim(folder) is not lives
    assert cli.execute(["sweep", str(tmp_path)]) == 0
    assert folder.exists()


@sweeps
def test_what_another_container_left_is_swept_by_whoever_has_claimed_its_certification(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its undo records were thrown away, and nobody undid what they name."""
    left = open_run_folder(tmp_path / RUNS / "one", REFERENCE_PLAN)
    (left / WORK).mkdir()
    (left / "owner.json").write_bytes(msgspec.json.encode(Owner(1, 1, OURS, "0123456789ab")))
    undone: list[Path] = []

    def undo(_: object, folder: Path, undos: object) -> list[str]:
        undone.append(folder)
        return []

    monkeypatch.setattr(ReferenceSystem, "sweep", undo)
    assert cli.execute(["sweep", str(tmp_path)]) == 0
    assert "it stays, as another container or machine may work there" in capsys.readouterr().out
    assert (left.exists(), undone) == (True, [])
    tidy(tmp_path, (), ())
    assert (left.exists(), len(undone)) == (False, 1)


@pytest.mark.parametrize("columns", [80, 200])
def test_rules_fit_the_screen(
    columns: int, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert cli.execute(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert any(line.split()[:2] == ["BAR-03", "MUST"] for line in lines)
    assert any("barriers/alignment" in line for line in lines)


def test_a_rule_names_its_oracles_by_title(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["rules", "BAR-03"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "decided by consistent cut (CUT): processed-while-blocked" in said
    assert "consistent cut (CUT): processed-while-blocked, shown able to fail by" in said


def test_a_rule_says_why_it_matters_and_where_it_comes_from(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address stands whole in its line, however narrow the screen is."""
    monkeypatch.setenv("COLUMNS", "60")
    rule = next(each for each in registry.rules() if each.id == "BAR-03")
    assert cli.execute(["rules", "BAR-03"]) == 0
    said = capsys.readouterr().out
    assert f"why {rule.why}" in " ".join(said.split())
    for source in rule.sources:
        assert any(source.words in line and line.endswith(source.address) for line in said.splitlines())


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("BAR-03", "holdfast certify reference"),
        ("SBK-01", "holdfast certify --state-backend module:factory"),
    ],
)
def test_a_rule_names_what_would_certify_it(
    rule: str, command: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert cli.execute(["rules", rule]) == 0
    assert f"status  not certified yet: run `{command}`" in capsys.readouterr().out


def test_verdicts_stand_under_title_and_name(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = (Verdict("CUT", Outcome.PASS, checked={"barrier-once": 3}), Verdict("MINE", Outcome.PASS))
    consoles.say_verdicts(consoles.results(), verdicts, {"CUT": "consistent cut"}, frozenset())
    cut, mine = capsys.readouterr().out.splitlines()[:2]
    assert cut.split() == ["CUT", "consistent", "cut", "pass", "3", "decided"]
    assert (mine.split(), mine.index("pass")) == (["MINE", "pass"], cut.index("pass"))


def test_rules_are_filtered_by_area_and_status(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["rules", "--area", "OBS", "--area", "BAR", "--status", "untested"]) == 0
    said = capsys.readouterr().out
    assert "OBS-01" in said
    assert "BAR-03" in said
    assert "CRD-01" not in said
    assert cli.execute(["rules", "--status", "pass"]) == 0
    assert "OBS-01" not in capsys.readouterr().out
