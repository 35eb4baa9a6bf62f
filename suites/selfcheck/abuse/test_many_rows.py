"""A machine that lacks something: one sentence and the right exit code; many rows are judged a part at a time."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts import output_file, record_files
from holdfast.harness.engine.artefacts.history_files import INPUTS, OUTPUTS
from holdfast.harness.engine.artefacts.record_files import read_inputs
from holdfast.harness.engine.artefacts.stored_run import HISTORY, store_run
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.site import registry
from holdfast.harness.model.jobs import FORWARD
from holdfast.suites.certify.scaffolds.source.right import Source
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.abuse.conftest import Invoke
from holdfast.suites.selfcheck.abuse.mutations.driving import MOST_MEGABYTES, grown_megabytes
from holdfast.suites.selfcheck.abuse.mutations.kinds import mend_digests
from holdfast.suites.selfcheck.soon import ends_within

BY_DAY, IN_MEMORY, BY_DAY_MEGABYTES = 16_000_000, 1_000_000, 200
"""Read as a whole, the rows of a day's test take 800 MB."""
BY_NIGHT = 100_000_000
A_GROUP = 4_000_000
PARTITIONS = 2
Numbers = npt.NDArray[np.int64]
Shape = Mapping[str, Any]


def make_run(folder: Path, rows: int) -> Path:
    """A stored run whose input has so many records, all of which are delivered in one unit."""
    run = store_run(folder / "run", run_plan(plan(job=FORWARD), registry.system("reference"), registry.toolbox()))
    history = run / HISTORY
    lengths = {"length": rows // PARTITIONS}
    _write_again(
        history / INPUTS,
        rows,
        lambda shape: {**shape, "partitions": [{**each, **lengths} for each in shape["partitions"]]},
        lambda number, shape: {
            "partition": pa.array(number // lengths["length"], pa.int32()),
            "offset": number % lengths["length"],
            "key": _texts(number % len(shape["keys"]), shape["keys"]),
            "value": number % 7,
        },
    )
    _write_again(
        history / OUTPUTS,
        rows,
        lambda shape: {"units": [{**shape["units"][-1], "rows": rows, "columnar": True}]},
        lambda number, shape: {
            "unit": _texts(0 * number, [shape["units"][0]["name"]]),
            "poll": 0 * number + shape["units"][0]["poll"],
            "final": pa.array(number < 0),
            "partition": number % PARTITIONS,
            "offset": number // PARTITIONS,
        },
    )
    mend_digests(history)
    return run


def _write_again(
    path: Path, rows: int, reshaped: Callable[[Shape], Shape], columns: Callable[[Numbers, Shape], Mapping[str, Any]]
) -> None:
    schema = pq.read_schema(path)
    shape = reshaped(json.loads(schema.metadata[b"holdfast"]))
    schema = schema.with_metadata({b"holdfast": json.dumps(shape).encode()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, A_GROUP):
            numbers = np.arange(start, min(start + A_GROUP, rows))
            writer.write_table(pa.table(dict(columns(numbers, shape)), schema), row_group_size=A_GROUP)


def _texts(indices: Numbers, texts: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(texts))


def judged(run: Path, limits: int, capsys: pytest.CaptureFixture[str]) -> tuple[str, float]:
    """What is said of it, and how many megabytes that takes. It fails: its checkpoints are those of a few records."""
    codes: list[int] = []
    grown = grown_megabytes(lambda: execute(["--limits", str(limits), "judge", str(run)]), codes)
    assert codes == [1]
    return capsys.readouterr().out, grown


def test_more_rows_than_fit_in_memory_are_judged_a_part_at_a_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (output_file, record_files):
        monkeypatch.setattr(module, "IN_MEMORY_ROWS", IN_MEMORY)
    said, grown = judged(make_run(tmp_path, BY_DAY), 1, capsys)
    assert f"EXACT    exactly-once output      pass         {4 * BY_DAY + 1} decided" in said
    assert grown < BY_DAY_MEGABYTES


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_hundred_million_rows_are_judged_once_limits_are_raised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path, BY_NIGHT)
    assert execute(["judge", str(run)]) == 3
    assert "holds 200,000,000 values, allowed are 40,000,000; raise the limits" in capsys.readouterr().err
    said, grown = judged(run, 5, capsys)
    assert f"EXACT    exactly-once output      pass         {4 * BY_NIGHT + 1} decided" in said
    assert grown < MOST_MEGABYTES


def test_input_that_stays_in_a_file_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = run_plan(plan(), registry.system("reference"), registry.toolbox()).history
    record_files.write_inputs(path := tmp_path / INPUTS, history.inputs)
    monkeypatch.setattr(record_files, "IN_MEMORY_ROWS", 0)
    monkeypatch.setattr(record_files, "_BATCH_ROWS", 7)
    found = read_inputs(path, INPUTS)
    assert isinstance(found.partitions[0].value, np.memmap)
    for mine, theirs in zip(found.partitions, history.inputs.partitions, strict=True):
        assert (mine.key.tolist(), mine.value.tolist()) == (theirs.key.tolist(), theirs.value.tolist())


HOLDFAST = f"{shlex.quote(sys.executable)} -m holdfast.harness.cli"
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-ec")


def run_shell(line: str, folder: Path, *, within: tuple[str, ...] = ("bash", "-c")) -> tuple[int, str, str]:
    done = subprocess.run([*within, line], capture_output=True, text=True, cwd=folder, check=False, errors="replace")
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("rules >&-", 0),
        ("rules >&- 2>&- <&-", 0),
        ("doctor >&-", 0),
        ("--help >&-", 0),
        ("nonsense 2>&-", 3),
        ("rules > /dev/full", 4),
        ("doctor > /dev/full", 4),
        ("rules 2> /dev/full", 0),
    ],
)
@pytest.mark.share(4)
def test_a_stream_that_takes_nothing(what: str, code: int, tmp_path: Path) -> None:
    found, _, complaint = run_shell(f"{HOLDFAST} {what}", tmp_path)
    assert found == code, complaint
    assert complaint.count("\n") == (1 if "> /dev/full" in what and code else 0)


@pytest.mark.parametrize("command", ["rules", "doctor", "--help", "config check nowhere.yaml"])
@pytest.mark.share(4)
def test_a_reader_that_goes(command: str, tmp_path: Path) -> None:
    line = f"{HOLDFAST} {command} 2>complaint | true; exit ${{PIPESTATUS[0]}}"
    assert run_shell(line, tmp_path)[0] == (3 if "nowhere" in command else 0)
    assert "Traceback" not in (tmp_path / "complaint").read_text()


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
@pytest.mark.parametrize("command", ["rules", "mutants D1 --no-such-öption"])
@pytest.mark.share(4)
def test_a_terminal_of_another_alphabet(encoding: str, command: str, tmp_path: Path) -> None:
    code, _, complaint = run_shell(f"LC_ALL=C PYTHONIOENCODING={encoding} {HOLDFAST} {command}", tmp_path)
    assert code == (0 if command == "rules" else 3), complaint
    assert "Traceback" not in complaint


def test_a_full_disk_refutes_no_part(tmp_path: Path) -> None:
    """A right source was, by what could not be written."""
    (tmp_path / "room").mkdir()
    (tmp_path / "mine.py").write_text(f"from {Source.__module__} import Source\n")
    part = f"{HOLDFAST} certify --source mine:Source --rule REC-02 --tier sim --out {tmp_path / 'out'}"
    mounted = "mount -t tmpfs -o size=64k none room && "
    if run_shell(f"{mounted}true", tmp_path, within=NAMESPACE)[0]:
        pytest.skip("this user can mount nothing")
    code, said, complaint = run_shell(f"{mounted}TMPDIR={tmp_path / 'room'} {part}", tmp_path, within=NAMESPACE)
    assert code == 2, complaint
    assert "has less than 2 MiB of room, so that it may have failed for that: " in said
    assert "FAIL" not in said


def test_a_folder_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    """Each worker ended with a fatal error of Python."""
    line = f"mkdir gone && cd gone && rmdir ../gone && {HOLDFAST} certify reference --tier sim --out {tmp_path / 'out'}"
    code, _, complaint = run_shell(line, tmp_path)
    assert code == 3
    sentence = "holdfast: the current folder is gone, and no process begins in it: choose another one."
    assert complaint.splitlines() == [sentence]


LONG = "n" * 300


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("certify reference --tier sim --rule BAR-09 --out $'o\\xff'", r"'o\udcff' is no text in UTF-8, and no report"),
        (
            f"certify reference --tier sim --rule BAR-09 --out {LONG}",
            "(File name too long); choose another one",
        ),
        (f"replay {LONG}", "File name too long."),
        ("certify --source holdfast.fixtures.sources.log:LogSource --rule E2E-05", "has # % ? in its name: set TMPDIR"),
    ],
    ids=["no text", "long output", "long run", "temporary folder"],
)
def test_a_name_that_cannot_be_used_is_one_sentence(command: str, sentence: str, tmp_path: Path) -> None:
    """A name that is no text had a traceback, a long one the exit code of a harness that failed; and of a temporary
    folder with such a name each right source was refuted."""
    (tmp_path / "a%20#?").mkdir()
    code, _, complaint = run_shell(f"TMPDIR='{tmp_path}/a%20#?' {HOLDFAST} {command}", tmp_path)
    assert code == 3
    assert sentence in complaint.splitlines()[-1]
    assert "Traceback" not in complaint


def test_an_output_folder_that_leads_nowhere_is_one_sentence(tmp_path: Path) -> None:
    """It was looked for without end."""
    (tmp_path / "o").symlink_to("gone")
    code, _, complaint = run_shell(f"{HOLDFAST} certify reference --tier sim --rule BAR-09 --out o", tmp_path)
    assert (code, complaint.splitlines()[-1]) == (
        3, "holdfast: o: no folder can be made in it (File exists); choose another one with --out."
    )  # fmt: skip


@pytest.mark.parametrize("limit_kb", [100_000, 200_000, 400_000])
@pytest.mark.share(2)
def test_too_little_memory(limit_kb: int, tmp_path: Path, any_plan: Path) -> None:
    line = f"ulimit -v {limit_kb} && {HOLDFAST} run {any_plan} --tier sim --out {tmp_path / 'out'}"
    code, said, complaint = run_shell(line, tmp_path)
    assert (code, said) == (4, "")
    assert f"limited to {limit_kb // 1024} MB (ulimit -v)" in complaint
    assert complaint.count("\n") == 1


FULL = "mount -t tmpfs -o size=64k none room && cd room && "
NO_SHARED_MEMORY = "mount -t tmpfs -o ro none /dev/shm && "
LACKS: Mapping[str, tuple[str, str]] = {
    "run {plan} --tier sim": (FULL, "No space left on device; make room"),
    "run {plan} --tier process": (FULL, "No space left on device; make room"),
    "certify reference --tier sim --rule BAR-01 --jobs 1": (FULL, "No space left on device; make room"),
    "pictures": (FULL, "No space left on device; make room"),
    "campaign reference --seeds 1-2 --jobs 2": (NO_SHARED_MEMORY, "mount /dev/shm, or use --jobs 1."),
}


@pytest.mark.parametrize("command", LACKS)
@pytest.mark.share(8)
def test_no_room(command: str, tmp_path: Path, any_plan: Path) -> None:
    lack, sentence = LACKS[command]
    (tmp_path / "room").mkdir()
    if run_shell(f"{lack}true", tmp_path, within=NAMESPACE)[0]:
        pytest.skip("this user can mount nothing")
    line = f"{lack}exec {HOLDFAST} {command.format(plan=any_plan)} --out out"
    code, _, complaint = run_shell(line, tmp_path, within=NAMESPACE)
    assert code == 4, complaint
    assert sentence in complaint
    assert "Traceback" not in complaint


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.share(2)
def test_sigterm_ends_a_campaign_within_five_seconds(jobs: str, invoke: Invoke, tmp_path: Path) -> None:
    drawing = invoke("campaign", "reference", "--seeds", "1-100000", "--jobs", jobs, "--out", tmp_path)
    ledger = tmp_path / "campaign.jsonl"
    drawing.wait_until(lambda: ledger.exists() and ledger.stat().st_size)
    drawing.send(signal.SIGTERM)
    with ends_within(5):
        assert drawing.exit_code() == 143, drawing.said()
    assert drawing.left() == []
    assert "Traceback" not in drawing.said()


def test_a_certification_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    """On a file system that its first stored run fills."""
    (tmp_path / "room").mkdir()
    mounted = "mount -t tmpfs -o size=300k none room && cd room && "
    if run_shell(f"{mounted}true", tmp_path, within=NAMESPACE)[0]:
        pytest.skip("this user can mount nothing")
    rules = "--tier sim --rule BAR-01 --keep all --jobs 1"
    line = f"""{mounted}set +e
    {HOLDFAST} certify reference {rules} --out out >&2; echo $?
    echo behind >&2
    mount -o remount,size=64m none .
    {HOLDFAST} certify --resume out/2* > /dev/null; echo $?"""
    _, codes, complaint = run_shell(line, tmp_path, within=NAMESPACE)
    assert codes.split() == ["4", "0"], complaint
    full, _, resumed = complaint.partition("behind\n")
    assert full.count("No space left on device; make room") == 1
    assert "Traceback" not in full
    assert "PASS           barriers: 1 case" in resumed
