"""What a program must not say, or its death at once, ends a run with one sentence; it never passes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from holdfast.fixtures.systems.json_lines.deployment import JsonLinesDeployment
from holdfast.fixtures.systems.json_lines.messages import Ack, Garbage, Ready, decode
from holdfast.fixtures.systems.json_lines.system import JsonLines, acknowledges_first, persists_first
from holdfast.harness.adapter.worker import DEATHS_ALIKE, DEATHS_IN_A_ROW, Deaths
from holdfast.harness.engine.cases.case_run import run_case
from holdfast.harness.engine.cases.swarm_case import case_for
from holdfast.harness.engine.cases.tally import RUNS_ALIKE, DeathsAtOnce
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import registry
from holdfast.harness.model.case import Tier
from holdfast.harness.model.jobs import FORWARD
from holdfast.harness.model.journal import Status
from holdfast.harness.model.own_deaths import OwnDeaths
from holdfast.harness.model.plan import Topology
from holdfast.harness.model.target import Role, Target
from holdfast.harness.spi.controls.network import LinkControl
from holdfast.harness.spi.controls.process import ProcessControl
from holdfast.harness.spi.system import System
from holdfast.suites.conformance.programs import CASES
from holdfast.suites.selfcheck.engine.results import missed
from holdfast.suites.selfcheck.systems.driving import LIMIT_MS, PLAN, deployed, records

SHORT_MS, LONG_MS = 600, 20_000
"""How long a program may be silent: one that is meant to be, and one that has something to say."""
PREAMBLE = """
import json, os, pathlib, sys, time
init = json.loads(sys.stdin.readline())
def say(**message):
    print(json.dumps(message), flush=True)
"""
READY = PREAMBLE + "say(type='ready', version=1, positions=[0, 0])\nrecords = json.loads(sys.stdin.readline())\n"
PUBLISH = "\nos.replace('new', 'table.json')\n"
LISTEN = "\nsys.stdin.read()\n"


def sentence(program: str, folder: Path, silence_ms: int) -> str:
    """Why a run of this program ends."""
    path = folder / "program.py"
    path.write_text(program)
    state = folder / "run"
    state.mkdir()
    with closing(deployed(JsonLines(str(path), silence_ms=silence_ms), records(), state)) as deployment:
        with pytest.raises(OSError) as ended:
            advance_to_the_end(deployment)
        assert deployment.stop(audit=False).problem == str(ended.value)
    said = str(ended.value).replace(str(path), "P").replace(str(state), "S")
    sentence, taken, why = said.partition("; it is taken for a program of version 1, because ")
    assert bool(taken) is bool(why)
    return f"{sentence}." if taken else sentence


def advance_to_the_end(deployment: JsonLinesDeployment) -> None:
    while deployment.now_ms < LIMIT_MS:
        deployment.advance(deployment.now_ms + 100)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (
            PREAMBLE + "print('hello')" + LISTEN,
            "program P sent nothing for 600 ms; due is a message that it is ready.",
        ),
        (PREAMBLE + "print('hello', flush=True)" + LISTEN, "program P sent 'hello', which is no message of"),
        (PREAMBLE + "os.write(1, b'\\xff\\n')" + LISTEN, "program P sent '\ufffd', which is no message of"),
        (
            PREAMBLE + "os.write(1, b'x' * (2 << 20))" + LISTEN,
            f"program P sent '{'x' * 60}...', which is no message",
        ),
        (
            PREAMBLE + "say(type='done')" + LISTEN,
            "which is no message of the protocol: Invalid value 'done' - at `$.type`.",
        ),
        (
            PREAMBLE + "say(type='ready', version=1, positions=[0, 0], colour='red')" + LISTEN,
            "which is no message of the protocol: Object contains unknown field `colour`.",
        ),
        (PREAMBLE + "say(type='ready', version=1)" + LISTEN, "Object missing required field `positions`."),
        (PREAMBLE + "say(type='ack', partition=0, offset='1')" + LISTEN, "Expected `int`, got `str` - at `$.offset`."),
        (
            PREAMBLE + "say(type='ready', version=2, positions=[0, 0])" + LISTEN,
            "program P speaks version 2 of the protocol, not 1.",
        ),
        (
            PREAMBLE + "say(type='ready', version=1, positions=[0])" + LISTEN,
            "program P gave 1 positions for 2 partitions.",
        ),
        (
            PREAMBLE + "say(type='ready', version=1, positions=[0, -7])" + LISTEN,
            "program P is ready at offset -7 of partition 1.",
        ),
        (
            PREAMBLE + "say(type='ack', partition=0, offset=0)" + LISTEN,
            "program P acknowledged a record before it sent ready.",
        ),
        (READY + "say(type='ready', version=1, positions=[0, 0])" + LISTEN, "program P sent ready twice."),
        (
            READY + "say(type='ack', partition=0, offset=100000)" + LISTEN,
            "program P acknowledged offset 100000 of partition 0, never sent to it.",
        ),
        (
            READY + "say(type='ack', partition=0, offset=-1)" + LISTEN,
            "acknowledged offset -1 of partition 0, never sent",
        ),
        (READY + "say(type='ack', partition=2, offset=0)" + LISTEN, "acknowledged partition 2; there are 2, from 0."),
        (READY + LISTEN, "program P sent nothing for 600 ms; due is an acknowledgement."),
        (READY + "os.close(1)" + LISTEN, "program P sent nothing for 600 ms; due is an acknowledgement."),
        (
            "no_such_name",
            "program P ended before it sent ready, in life 1 (exit code 1: NameError: name 'no_such_name' is not "
            "defined).",
        ),
        (
            READY + "sys.exit('no such key')",
            "program P died by itself 5 times before it acknowledged anything, each time with exit code 1: "
            "no such key.",
        ),
        (PREAMBLE + "sys.exit('no disk')", "program P ended before it sent ready, in life 1 (exit code 1: no disk)."),
        (PREAMBLE + "os.kill(os.getpid(), 9)", "program P ended before it sent ready, in life 1 (SIGKILL)."),
        (
            READY + "pathlib.Path('table.json').write_text('rows')" + LISTEN,
            "S/state/table.json is no table of rows: JSON is malformed: invalid character (byte 0).",
        ),
        (
            READY + "pathlib.Path('table.json').write_text('{\"rows\": [[\"even\", 2.5, [1, 1], 7]]}')" + LISTEN,
            "S/state/table.json is no table of rows: Expected `int`, got `float` - at `$.rows[0][1]`.",
        ),
        (
            READY + "pathlib.Path('new').write_text('{\"a\": ' * 100_000)" + PUBLISH + LISTEN,
            "S/state/table.json is no table of rows: maximum recursion depth exceeded",
        ),
        (
            READY + "pathlib.Path('new').write_bytes(b'{\"rows\": [[\"\\xff\", 2, [1, 1], 7]]}')" + PUBLISH + LISTEN,
            "S/state/table.json is no table of rows: ",
        ),
        (
            READY + "pathlib.Path('table.json').write_text('{\"rows\": [[\"even\", 2, [1], 7]]}')" + LISTEN,
            "S/state/table.json counts 1 of 2 partitions for 'even'.",
        ),
    ],
)
@pytest.mark.share(7)
def test_a_program_that_breaks_the_protocol_is_named_with_what_it_did(
    program: str, expected: str, tmp_path: Path
) -> None:
    found = sentence(program, tmp_path, SHORT_MS if "sent nothing" in expected else LONG_MS)
    assert expected in found
    assert found.endswith(".")
    assert "\n" not in found


def test_messages_of_the_protocol_are_understood() -> None:
    assert decode(b'{"type":"ready","version":1,"positions":[0,3]}') == Ready((0, 3), 1)
    assert decode(b'{"type":"ack","partition":1,"offset":2}') == Ack(1, 2)
    with pytest.raises(Garbage):
        decode(b"")


def test_a_program_that_does_not_exist_or_cannot_be_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no program")
    for name, complaint in [
        ("json-lines", "no program is named: write json-lines+/path/to/program."),
        (f"json-lines+{tmp_path}/nowhere", f"there is no program '{tmp_path}/nowhere': give the path of one."),
        (f"json-lines+{tmp_path}/notes.txt", f"program '{tmp_path}/notes.txt' is not executable: make it so, or"),
        ("acknowledges-first+D1", "acknowledges-first has no variants: remove '+D1'."),
    ]:
        with pytest.raises(UsageError) as refused:
            registry.system(name)
        assert complaint in str(refused.value)


@pytest.mark.parametrize("name", ["acknowledges-first", "persists-first"])
def test_the_two_programs_are_registered_systems(name: str) -> None:
    system: System = registry.system(name)
    assert system.name == name
    assert system.gates == {"acknowledge"}


def test_a_javascript_file_needs_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "program.js"
    path.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"program\.js' needs 'node', which is not on the PATH: install Node\.js\."):
        registry.system(f"json-lines+{path}")


def test_a_job_that_it_cannot_do_is_refused() -> None:
    system = persists_first()
    with pytest.raises(ValueError, match=r"job\.contract is records: this system sums by key, use fold"):
        system.account(msgspec.structs.replace(PLAN, job=FORWARD))
    with pytest.raises(ValueError, match=r"topology\.parallelism is 2: this system is one process, use 1"):
        system.account(msgspec.structs.replace(PLAN, topology=Topology(parallelism=2)))
    (account,) = system.account(msgspec.structs.replace(PLAN, options={"execution.checkpointing.interval": "1 s"}))
    assert (account.key, str(account.use)) == ("execution.checkpointing.interval", "unsupported")


def test_a_target_that_it_lacks_is_refused(tmp_path: Path) -> None:
    with closing(deployed(acknowledges_first(), records(), tmp_path)) as deployment:
        with pytest.raises(ValueError, match=r"target worker\[1\] is unknown: there is worker\[0\]"):
            deployment.controls[ProcessControl].kill(Target(Role.WORKER, 1))
        with pytest.raises(OSError, match="worker-0 is dead already"):
            deployment.controls[ProcessControl].kill(Target(Role.WORKER, 0))
        with pytest.raises(NotImplementedError):
            deployment.controls[LinkControl].cut(Target(Role.CHANNEL, 0))


READY_AND_DEAD = """
import json, os, sys
init = json.loads(sys.stdin.readline())
print(json.dumps({"type": "ready", "version": 1, "positions": [0] * init["partitions"]}), flush=True)
sys.stdin.readline()
sys.exit(f"process {os.getpid()} cannot divide by zero")
"""


def program(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text)
    return f"json-lines+{path}"


def test_a_drawn_case_gives_up_after_a_few_deaths_that_are_alike(tmp_path: Path) -> None:
    """Each of its 30 runs waited for 20 deaths."""
    name = program(tmp_path, READY_AND_DEAD)
    found = run_case(name, case_for(registry.system(name), "swarm/drawn-plans"), Tier.PROCESS, folder=tmp_path)
    assert found.status is Status.INCONCLUSIVE
    assert (found.runs_inconclusive, found.runs_passed) == (RUNS_ALIKE, 0)
    start = (
        f"0 of 5 runs counted; the system under test died by itself {RUNS_ALIKE * DEATHS_ALIKE} times in {RUNS_ALIKE} "
        "runs before it did anything, each time with exit code 1: process "
    )
    assert found.reason.startswith(start)
    assert found.reason.endswith(" cannot divide by zero; no further run was begun")


def test_a_written_case_gives_up_before_the_program_is_ready(tmp_path: Path) -> None:
    found = run_case(program(tmp_path, "raise SystemExit('no disk')"), CASES[0], Tier.PROCESS, folder=tmp_path)
    assert found.status is Status.INCONCLUSIVE
    assert set(found.rules.values()) == {Status.INCONCLUSIVE}
    assert found.runs_inconclusive == RUNS_ALIKE
    assert (
        "died by itself 3 times in 3 runs before it did anything, each time with exit code 1: no disk;" in found.reason
    )


def test_only_deaths_that_are_alike_before_any_progress_end_a_run_early() -> None:
    deaths = Deaths()
    for life in range(DEATHS_IN_A_ROW - 1):
        deaths.add("exit code 1", f"no key {'abcdefghijklmnopqrstuvwxyz'[life]}")
        assert deaths.complaint() == ""
    assert deaths.at_once == OwnDeaths(1, "exit code 1", "no key s")
    deaths.add("exit code 1", "no disk")
    assert deaths.complaint().startswith("died by itself 20 times in a row without an acknowledgement, the last time")

    deaths = Deaths()
    deaths.acknowledge()
    for _ in range(DEATHS_IN_A_ROW - 1):
        deaths.add("exit code 1", "no key")
    assert (deaths.complaint(), deaths.at_once) == ("", None)


def test_only_deaths_that_are_alike_end_a_case_early() -> None:
    died = missed("it died", died_at_once=OwnDeaths(5, "exit code 1", "no key 7 at 0x7f10a"))
    for between in (
        missed("it fell silent"),
        replace(died, died_at_once=OwnDeaths(5, "exit code 2", "no key 7 at 0x7f10a")),
        replace(died, died_at_once=OwnDeaths(5, "exit code 1", "no disk")),
    ):
        case = DeathsAtOnce()
        for each in (died, died, between, died, died):
            case.add(each)
            assert case.reason == ""
    case.add(replace(died, died_at_once=OwnDeaths(4, "exit code 1", "no key 8 at 0x7f20b")))
    assert case.reason.startswith("the system under test died by itself 14 times in 3 runs before it did anything")
