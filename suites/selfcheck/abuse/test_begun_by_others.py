"""The folder of an interrupted certification may be somebody else's: it chooses nothing for us without our word."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.harness import cli
from holdfast.harness.commands import resume
from holdfast.harness.engine.certification import begun as begun_module
from holdfast.harness.engine.certification.begun import FILE, Begun, begun_in, identity_of, write_begun
from holdfast.harness.engine.certification.kit_run import KitRequest
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.site import services
from holdfast.harness.engine.site.services import Sites
from holdfast.harness.engine.site.surroundings import passed_on
from holdfast.harness.spi.surroundings import PASSED_ON
from holdfast.suites.selfcheck.abuse.test_leaving import one_sentence
from holdfast.suites.selfcheck.abuse.test_other_peoples_runs import NAMES

PLANTED = "planted:renamed"
SHIPPED = "holdfast.fixtures.backends.hashmap:HashMapStateBackend"


@pytest.fixture
def mark(planted: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is there once code from the folder was run."""
    monkeypatch.setenv(PASSED_ON, "")
    return planted


def system(name: str = "reference") -> Request:
    return Request(command="", system=name, folder=Path(), rules=frozenset({"CRD-04"}))


def part(factory: str = "hashmap", **more: Any) -> KitRequest:
    return KitRequest("state-backend", factory, "", **more)


NAMING: dict[str, tuple[Begun, str]] = {
    **{name: (Begun(identity="", request=system(name)), f"system {name!r}") for name in NAMES},
    "a part": (Begun(identity="", request=part(PLANTED)), f"state-backend {PLANTED!r}"),
    "a wrapped part": (Begun(identity="", request=part(f"{SHIPPED}+{PLANTED}")), "state-backend 'holdfast."),
    "a place": (Begun(identity="", request=part("file:///precious")), "state-backend 'file:///precious'"),
    "a location": (Begun(identity="", request=part(location="file:///precious")), "location 'file:///precious'"),
    "an option": (Begun(identity="", request=part(options={"with": PLANTED})), f"option with={PLANTED}"),
    "a broker": (Begun(identity="", request=system(), sites=Sites(kafka_bootstrap="evil:1")), "service 'evil:1'"),
    "a store": (Begun(identity="", request=system(), sites=Sites(s3_endpoint="http://evil")), "service 'http://evil'"),
    "a cluster": (Begun(identity="", request=system(), sites=Sites(spark_master="spark://e")), "service 'spark://e'"),
    "an image": (Begun(identity="", request=system(), sites=Sites(images=("kafka=e",))), "service 'kafka=e'"),
    "a victim": (Begun(identity="", request=system(), sites=Sites(allow_faults_on=("kafka",))), "service 'kafka'"),
    "a variable": (Begun(identity="", request=system(), environment=("TOKEN",)), "variable 'TOKEN'"),
    "waivers": (Begun(identity="", request=system(), waivers="/precious.toml"), "waivers '/precious.toml'"),
}
both_commands = pytest.mark.parametrize("command", [["certify", "--resume"], ["report"]], ids=["resume", "report"])


@both_commands
@pytest.mark.parametrize(("begun", "named"), NAMING.values(), ids=NAMING)
@pytest.mark.share(4)
def test_what_a_folder_names_needs_permission(
    command: list[str], begun: Begun, named: str, mark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = services.chosen_site()
    write_begun(tmp_path, begun)
    assert cli.execute([*command, str(tmp_path)]) == 3
    sentence = one_sentence(capsys)
    assert f"what was begun there names {named}" in sentence
    assert sentence.strip().endswith("then add --trust.")
    assert not mark.exists()
    assert (services.chosen_site(), passed_on()) == (before, ())


@both_commands
def test_with_permission_it_is_looked_up(
    command: list[str], mark: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_begun(tmp_path, Begun(identity="of other code", request=system(PLANTED)))
    assert cli.execute([*command, str(tmp_path), "--trust"]) == 3
    assert "its results are of other code" in one_sentence(capsys)
    assert mark.exists()


def gone_on(begun: Begun, folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Why nothing runs when it goes on, in place of which nothing runs in any case; empty: it would."""
    given: list[str] = []

    def certify(*_: object, why_not: str, **__: object) -> int:
        given.append(why_not)
        return 0

    monkeypatch.setattr(resume, "certify", certify)
    monkeypatch.setattr(resume, "certify_part", certify)
    assert begun.request is not None
    identity = identity_of(begun.request)
    write_begun(folder, Begun(identity=identity, request=begun.request, environment=begun.environment))
    assert cli.execute([*arguments, str(folder)]) == 0
    return given[0]


@pytest.mark.usefixtures("mark")
@pytest.mark.parametrize("asked", [system(), system("reference+A3"), part(), part(SHIPPED)])
def test_what_is_registered_or_ships_needs_none(
    asked: Request | KitRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Begun(identity="", request=asked)
    assert gone_on(begun, tmp_path, monkeypatch, "certify", "--resume") == ""
    reason = gone_on(begun, tmp_path, monkeypatch, "report")
    assert reason == f"it did not run; holdfast certify --resume {tmp_path} goes on"


@pytest.mark.usefixtures("mark")
def test_the_command_that_goes_on_has_permission_where_it_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "mine")
    begun = Begun(identity="", request=system(), environment=("TOKEN",))
    reason = gone_on(begun, tmp_path, monkeypatch, "report", "--trust")
    assert reason == f"it did not run; holdfast certify --resume {tmp_path} --trust goes on"
    assert passed_on() == ()
    gone_on(begun, tmp_path, monkeypatch, "certify", "--trust", "--resume")
    assert passed_on() == ("TOKEN",)


@pytest.mark.usefixtures("mark")
def test_the_command_that_goes_on_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "the night's own"
    folder.mkdir()
    reason = gone_on(Begun(identity="", request=system()), folder, monkeypatch, "report")
    command = reason.removeprefix("it did not run; ").removesuffix(" goes on")
    assert shlex.split(command) == ["holdfast", "certify", "--resume", str(folder)]


def test_how_many_compute_at_a_time_is_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(begun_module, "processors", lambda: 3)
    for jobs, used in ((1, 1), (1_000_000, 3)):
        asked = msgspec.structs.replace(system(), jobs=jobs)
        write_begun(tmp_path, Begun(identity=identity_of(asked), request=asked))
        found = begun_in(tmp_path, trust=False)[1]
        assert isinstance(found, Request)
        assert found.jobs == used
    gone_on(Begun(identity="", request=asked), tmp_path, monkeypatch, "certify", "--resume")
    assert "begun with --jobs 1000000, and this machine has 3 for it" in capsys.readouterr().err


@pytest.mark.parametrize("number", [{"jobs": 0}, {"seed": -1}, {"runs": 0}, {"budget_s": -1.0}], ids=str)
def test_its_numbers_are_within_the_bounds_of_the_command_line(
    number: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_begun(tmp_path, Begun(identity="", request=msgspec.structs.replace(system(), **number)))
    assert cli.execute(["report", str(tmp_path)]) == 3
    assert f"at `$.request.{next(iter(number))}`" in one_sentence(capsys)


def test_it_is_a_regular_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_begun(tmp_path, Begun(identity="", request=system()))
    (tmp_path / FILE).rename(tmp_path / "elsewhere.json")
    os.symlink(tmp_path / "elsewhere.json", tmp_path / FILE)
    assert cli.execute(["report", str(tmp_path)]) == 3
    assert "it is a link" in one_sentence(capsys)


def test_what_the_user_names_needs_no_permission(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["certify", "reference", "--trust"]) == 3
    assert "--trust is for --resume" in one_sentence(capsys)
