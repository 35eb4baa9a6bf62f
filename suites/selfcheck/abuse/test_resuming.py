"""A certification that is killed loses nothing that is finished: it goes on, and it can be reported as it is."""

from __future__ import annotations

import signal
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from holdfast.harness import cli
from holdfast.harness.commands import resume
from holdfast.harness.engine.artefacts.files import make_folder
from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.artefacts.owner import claim, owner_lives
from holdfast.harness.engine.certification.begun import FILE, Begun, begun_now, read_begun, working_in, write_begun
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.result_log import LoggedCheck, LoggedRun, read_log
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.nights import night_folder
from holdfast.harness.engine.nights.night_folder import NightFolder
from holdfast.harness.engine.site import services
from holdfast.harness.engine.site.surroundings import pass_on, passed_on
from holdfast.harness.lease import Lease
from holdfast.harness.model.journal import Status, Title
from holdfast.harness.spi.surroundings import PASSED_ON
from holdfast.suites.selfcheck.abuse.conftest import Invoke
from holdfast.suites.selfcheck.abuse.invocation import LABEL
from holdfast.suites.selfcheck.started import Started

RULES = ("--rule", "CRD-04", "--rule", "CRD-05", "--rule", "BAR-06", "--rule", "RST-01")
WAIVERS = '[[waivers]]\nrule = "{rule}"\nreason = "known"\nexpires = 2999-01-01\n'


@pytest.fixture(autouse=True)
def labelled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What began with a variable goes on with it alone; and what is killed leaves its temporary files with the test."""
    monkeypatch.setenv(LABEL, "")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


def entries(folder: Path) -> list[object]:
    """What is on disk."""
    return [each for path in folder.glob("results-*.jsonl.gz") for each in read_log(path)]


def logged(folder: Path) -> list[str]:
    """Runs and checks that are on disk."""
    found = entries(folder)
    runs = [each.result.id for each in found if isinstance(each, LoggedRun)]
    return runs + [each.check.id for each in found if isinstance(each, LoggedCheck)]


def killed(invoke: Invoke, out: Path, *arguments: str, when: int = 2) -> Path:
    """The folder of a certification that was killed after some results. It passes a variable on, so whoever goes on
    with it says that the folder is trusted."""
    certifying = invoke("certify", *arguments, "--out", out)
    certifying.wait_until(lambda: any(len(logged(each)) > when for each in out.glob("2*")))
    certifying.send(signal.SIGKILL)
    assert certifying.exit_code() == -signal.SIGKILL
    assert certifying.left() == []
    (folder,) = out.glob("2*")
    return folder


def test_a_killed_certification_is_reported_and_goes_on(
    invoke: Invoke, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a certification that was killed nothing was left but runs without a verdict."""
    folder = killed(invoke, tmp_path / "out", "reference", "--tier", "sim", *RULES)
    first = logged(folder)
    assert cli.execute(["report", "--trust", str(folder)]) == 2
    half = read_journal(folder / "results.json")
    assert half.certificate.title is Title.INCONCLUSIVE
    assert any(f"holdfast certify --resume {folder}" in sentence for sentence in half.certificate.missing)
    assert sum(each.runs_passed + each.runs_failed + each.runs_inconclusive for each in half.cases) == len(first)
    assert cli.execute(["certify", "--trust", "--resume", str(folder)]) == 0
    whole = read_journal(folder / "results.json")
    assert whole.certificate.title is not Title.INCONCLUSIVE
    assert whole.started == half.started
    assert not (folder / FILE).exists()
    runs = logged(folder)
    assert len(set(runs)) == len(runs) > len(first)
    capsys.readouterr()
    assert cli.execute(["certify", "--trust", "--resume", str(folder)]) == 3
    assert "no certification was interrupted there" in capsys.readouterr().err


def test_a_killed_kit_is_reported_and_goes_on(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its checks were on disk, and nothing read them; its temporary folder stayed for ever."""
    folder = killed(invoke, tmp_path / "out", "--state-backend", "hashmap", "--area", "SBK")
    (left,) = tmp_path.glob("holdfast-kit-*")
    monkeypatch.setattr(resume, "sweep_services", tuple)
    with Lease("kit") as living:
        assert cli.execute(["sweep", str(tmp_path / "out")]) == 0
        assert living.is_dir()
    assert f"{left}: removed." in capsys.readouterr().out
    assert not left.exists()
    first = logged(folder)
    assert cli.execute(["report", "--trust", str(folder)]) == 2
    half = read_journal(folder / "results.json")
    assert [each.case for each in half.cases] == first
    took_s = max(each.at_s for each in entries(folder) if isinstance(each, LoggedCheck))
    assert half.duration_s >= took_s > 0
    assert Status.PASS in {each.status for each in half.cases}
    assert half.certificate.title is Title.INCONCLUSIVE
    assert cli.execute(["certify", "--trust", "--resume", str(folder)]) == 0
    whole = read_journal(folder / "results.json")
    assert whole.interrupted == ""
    assert whole.started == half.started
    assert whole.duration_s > half.duration_s
    checks = logged(folder)
    assert len(set(checks)) == len(checks) == len(whole.cases) > len(first)
    assert not (folder / FILE).exists()


def test_what_goes_on_keeps_its_waivers(invoke: Invoke, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They were asked for again, or forgotten."""
    waivers = tmp_path / "waivers.toml"
    waivers.write_text(WAIVERS.format(rule="CRD-04"))
    folder = killed(invoke, tmp_path / "out", "reference", "--tier", "sim", *RULES, "--waivers", str(waivers), when=0)
    begun = read_begun(folder)
    assert begun is not None
    assert begun.waivers == str(waivers)
    waivers.unlink()
    assert cli.execute(["certify", "--trust", "--resume", str(folder)]) == 3
    assert "waivers.toml: cannot be read" in capsys.readouterr().err


def test_services_and_variables_are_kept_and_keys_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (services.ACCESS_KEY, services.SECRET_KEY, "MINE"):
        monkeypatch.setenv(name, "secret-of-somebody")
    monkeypatch.setenv(PASSED_ON, "")
    monkeypatch.setattr(services, "_site", services.site_of("a:9092", "http://b", "", ["kafka=ours:1"], ["kafka"]))
    pass_on(["MINE"])
    write_begun(tmp_path, begun_now(Request(command="", system="reference", folder=tmp_path), "identity"))
    assert "secret-of-somebody" not in (tmp_path / FILE).read_text()
    before = services.chosen_site()
    services.settle_named(services.Sites())
    monkeypatch.setenv(PASSED_ON, "")
    begun = read_begun(tmp_path)
    assert begun is not None
    services.settle_named(begun.sites)
    pass_on(begun.environment)
    assert services.chosen_site() == before
    assert passed_on() == ("MINE",)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (["reference"], "SYSTEM"),
        (["--sink", "x:y", "--seed", "3"], "--sink, --seed"),
        (["--waivers", "w.toml"], "--waivers"),
        (["--kafka-bootstrap", "a:1", "--env", "HOME"], "--kafka-bootstrap, --env"),
        (["--out", "elsewhere"], "--out"),
    ],
)
def test_nothing_else_is_said_beside_resume(
    more: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most of these were ignored."""
    assert cli.execute(["certify", "--resume", str(tmp_path), *more]) == 3
    assert f"leave out {named}." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["certify", "reference", "--tier", "sim"], "--seed"),
        (["certify", "reference", "--tier", "sim"], "--runs"),
        (["certify", "--sink", "memory"], "--seed"),
        (["nightly"], "--seed"),
    ],
    ids=str,
)
def test_a_number_that_is_too_large_is_refused(
    command: list[str], option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The harness broke when it told its workers."""
    (tmp_path / "holdfast.toml").write_text('systems = ["reference"]\ntiers = ["sim"]\nbudget-minutes = 1\n')
    monkeypatch.chdir(tmp_path)
    assert cli.execute([*command, option, "9" * 23, "--out", "out"]) == 3
    assert f"{option} is {'9' * 23}; allowed is a whole number up to 1000000000" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_only_the_same_code_and_settings_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_begun(tmp_path, Begun(identity="other", request=Request(command="", system="reference", folder=Path())))
    assert cli.execute(["certify", "--resume", str(tmp_path)]) == 3
    assert "its results are of other code" in capsys.readouterr().err
    write_begun(tmp_path, Begun(identity="of a night", started="2026-11-20"))
    assert cli.execute(["certify", "--resume", str(tmp_path)]) == 3
    assert "it is a night; holdfast nightly goes on with it" in capsys.readouterr().err


def test_only_one_of_many_goes_on_in_a_folder(tmp_path: Path) -> None:
    """Each looked whether somebody worked there, and wrote its own name behind that."""
    program = (
        "import sys, pathlib; from holdfast.harness.engine.artefacts.owner import claim;"
        "sys.stdin.readline(); print(claim(pathlib.Path(sys.argv[1])), flush=True); sys.stdin.readline()"
    )
    (tmp_path / "owner.json").write_text('{"pid":1,"start_time":1,"owner":"holdfast"}')  # Of one that is gone.
    with ExitStack() as stack:
        trying = [stack.enter_context(Started.python(program, tmp_path)) for _ in range(4)]
        for each in trying:
            each.write_line("begin")
        assert sorted(each.read_line() for each in trying) == ["False", "False", "False", "True"]
        occupied = pytest.raises(UsageError, match="another process still fills it")
        with occupied, working_in(tmp_path, Begun(identity="")):
            pass
        for each in trying:
            each.communicate()
    assert not owner_lives(tmp_path)


def test_two_nights_that_begin_at_once_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one ended, because its folder was there already."""
    faster = [tmp_path / "2026-11-20"]

    def make(folder: Path) -> None:
        if folder in faster:
            faster.remove(folder)
            folder.mkdir()  # By another night, meanwhile.
        make_folder(folder)

    monkeypatch.setattr(night_folder, "make_folder", make)
    with NightFolder(tmp_path, "2026-11-20", "identity", "now") as first:
        second = NightFolder(tmp_path, "2026-11-20", "identity", "now")
    third = NightFolder(tmp_path, "2026-11-20", "identity", "later")
    assert [each.path.name for each in (first, second, third)] == ["2026-11-20-2", "2026-11-20-3", "2026-11-20-2"]
    assert (third.resumed, third.started) == (True, "now")


def test_a_folder_is_left_to_others_whatever_ended_the_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it lives"), working_in(tmp_path, Begun(identity="")):
        raise UsageError("it lives" if owner_lives(tmp_path) else "")
    assert not owner_lives(tmp_path)
    assert (tmp_path / FILE).exists()
    assert claim(tmp_path)
