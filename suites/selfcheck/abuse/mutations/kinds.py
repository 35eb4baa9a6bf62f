"""Kinds of what is mutated: how it is made once, how a copy of it is mutated, and which command then reads it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

import msgspec

from holdfast.faults.process import kill
from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.history_files import INPUTS, MANIFEST, OUTPUTS
from holdfast.harness.engine.artefacts.owner import OURS, Owner
from holdfast.harness.engine.artefacts.plan_file import write_plan
from holdfast.harness.engine.artefacts.stored_run import open_run_folder, store_run
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.executor.run_folder import UNDO
from holdfast.harness.engine.exploration.ledger import LEDGER
from holdfast.harness.engine.exploration.long_campaign import LongCampaign
from holdfast.harness.engine.site import registry
from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.fault import UndoRecord
from holdfast.suites.conformance.plans import WORKERS, plan
from holdfast.suites.selfcheck.abuse.mutations.values import BY_SUFFIX, mutate_parquet, mutated_json

REFUSED: Final = 3
MOST: Mapping[str, int] = {"topology": 8, "bounds": 10_000}
"""In a part of a plan: workers, and milliseconds."""
GONE = msgspec.json.encode(Owner(2**22 + 5, 1, OURS))
PLAN = plan(kill(WORKERS[0], after_checkpoint=1))
CONFIGURATION = """\
# of a cluster
execution.checkpointing.interval: 10 s
execution.checkpointing.mode: EXACTLY_ONCE
state.checkpoints.num-retained: 2
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 3
restart-strategy.fixed-delay.delay: 10 s
taskmanager.memory.segment-size: 32kb
"""


class Kind(msgspec.Struct, frozen=True):
    """One kind.

    Attributes:
        make: fills a folder with what is whole.
        mutate: a copy of it.
        command: that reads it.
        allowed: exit codes. Where a manifest guards what was mutated, there is no verdict but that of the whole run.
    """

    make: Callable[[Path], None]
    mutate: Callable[[Path, Stream], None]
    command: Callable[[Path], Sequence[str]]
    allowed: frozenset[int]


def _make_run(folder: Path) -> None:
    store_run(folder / "run", run_plan(PLAN, registry.system("reference"), registry.toolbox()))


def _judge(folder: Path) -> Sequence[str]:
    return ["judge", str(folder / "run")]


def _mutate_file(path: Path, draw: Stream) -> None:
    path.write_bytes(draw.choice(BY_SUFFIX[path.suffix])(path.read_bytes(), draw))


def _mutate_run(folder: Path, draw: Stream) -> None:
    """One file of a run, or its place."""
    run = folder / "run"
    path = draw.choice(sorted(path for path in run.rglob("*") if path.is_file()))
    if draw.chance(0.8):
        _mutate_file(path, draw)
        return
    kept = path.read_bytes()
    path.unlink()
    kind = draw.below(6)
    if kind == 0:
        path.mkdir()
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        path.symlink_to(draw.choice(("/etc/passwd", "/dev/zero", ".", "..", "nowhere", path.name)))
    elif kind == 3:
        path.with_name(draw.choice(("x.json", "x.jsonl", "é", ".x", "x" * 200))).write_bytes(kept)
    elif kind == 4:
        path.write_bytes(b"")


def _mutate_history(folder: Path, draw: Stream) -> None:
    """One file of a history, with a manifest that fits: who writes both can write anything, and is read with care."""
    history = folder / "run" / "history"
    path = draw.choice(sorted(path for path in history.iterdir() if path.suffix in (".json", ".jsonl")))
    _mutate_file(path, draw)
    if path.name != MANIFEST:
        _mend_manifest(history)


def _mutate_parquet(folder: Path, draw: Stream) -> None:
    history = folder / "run" / "history"
    path = history / draw.choice((INPUTS, OUTPUTS))
    if draw.chance(0.9):
        mutate_parquet(path, draw)
    else:
        _mutate_file(path, draw)
    _mend_manifest(history)


def _mend_manifest(history: Path) -> None:
    path = history / MANIFEST
    manifest = json.loads(path.read_bytes())
    for file in manifest["files"]:
        content = (history / file["name"]).read_bytes()
        file.update(length=len(content), sha256=hashlib.sha256(content).hexdigest())
    path.write_text(json.dumps(manifest))


def _mutate_manifest(folder: Path, draw: Stream) -> None:
    _mutate_file(folder / "run" / "history" / MANIFEST, draw)


def _make_plan(folder: Path) -> None:
    write_plan(folder / "plan.json", PLAN)


def _mutate_plan(folder: Path, draw: Stream) -> None:
    path = folder / "plan.json"
    path.write_bytes(_not_long(mutated_json(path.read_bytes(), draw)))


def _not_long(content: bytes) -> bytes:
    """A plan for a hundred workers, or for a month, is well formed and keeps the simulator busy: that is no hang."""
    value = json.loads(content)
    for name, part in value.items() if isinstance(value, dict) else ():
        if name in MOST and isinstance(part, dict):
            value[name] = {key: min(each, MOST[name]) if type(each) is int else each for key, each in part.items()}
    return json.dumps(value).encode()


def _make_part(folder: Path) -> None:
    part = open_run_folder(folder / "run", PLAN)
    (part / "owner.json").write_bytes(GONE)
    (part / "work").mkdir()
    note = {"name": "worker-0.0", "pid": 2**22 + 5, "start_time": 1, "boot": "none"}
    (part / "work" / "processes.jsonl").write_bytes(msgspec.json.encode(note) + b"\n")
    undos = [UndoRecord(index, spec.kind, spec) for index, spec in enumerate(PLAN.faults)]
    (part / UNDO).write_bytes(b"".join(msgspec.json.encode(undo) + b"\n" for undo in undos))


def _mutate_owner(folder: Path, draw: Stream) -> None:
    _mutate_file(folder / ".run.part" / "owner.json", draw)


def _mutate_undo(folder: Path, draw: Stream) -> None:
    part = folder / ".run.part"
    path = draw.choice((part / UNDO, part / "work" / "processes.jsonl", part / "plan.json"))
    if draw.chance(0.8):
        _mutate_file(path, draw)
        return
    path.unlink()
    draw.choice((Path.mkdir, os.mkfifo, Path.touch))(path)  # type: ignore[operator]


def _make_ledger(folder: Path) -> None:
    campaign = LongCampaign("reference", (1, 2), folder / "campaign")
    with campaign.ledger:
        list(campaign.draw(1, str))


def _mutate_ledger(folder: Path, draw: Stream) -> None:
    _mutate_file(folder / "campaign" / LEDGER, draw)


def _make_report(folder: Path) -> None:
    narrowed = ["--tier", "sim", "--rule", "BAR-01", "--jobs", "1", "--runs", "1", "--json"]
    with redirect_stdout(StringIO()):
        execute(["certify", "reference", *narrowed, "--out", str(folder)])


def _mutate_report(folder: Path, draw: Stream) -> None:
    _mutate_file(folder / "latest" / "results.json", draw)


def _make_configuration(folder: Path) -> None:
    (folder / "flink-conf.yaml").write_text(CONFIGURATION)


def _mutate_configuration(folder: Path, draw: Stream) -> None:
    _mutate_file(folder / "flink-conf.yaml", draw)
    if draw.chance(0.3):
        (folder / "flink-conf.yaml").rename(folder / "config.yaml")


def _check(folder: Path) -> Sequence[str]:
    return ["config", "check", str(next(folder.iterdir()))]


def _sweep(folder: Path) -> Sequence[str]:
    return ["sweep", str(folder)]


KINDS: Mapping[str, Kind] = {
    "run": Kind(_make_run, _mutate_run, _judge, frozenset({0, REFUSED})),
    "manifest": Kind(_make_run, _mutate_manifest, _judge, frozenset({0, REFUSED})),
    "history": Kind(_make_run, _mutate_history, _judge, frozenset({0, 1, 2, REFUSED})),
    "parquet": Kind(_make_run, _mutate_parquet, _judge, frozenset({0, 1, 2, REFUSED})),
    "plan": Kind(
        _make_plan,
        _mutate_plan,
        lambda folder: ["run", str(folder / "plan.json"), "--tier", "sim", "--out", str(folder / "out")],
        frozenset({0, 1, 2, REFUSED}),
    ),
    "owner": Kind(_make_part, _mutate_owner, _sweep, frozenset({0, REFUSED})),
    "undo": Kind(_make_part, _mutate_undo, _sweep, frozenset({0, REFUSED})),
    "ledger": Kind(
        _make_ledger,
        _mutate_ledger,
        lambda folder: ["campaign", "reference", "--seeds", "1-2", "--out", str(folder / "campaign")],
        frozenset({0, 1, 2, REFUSED, 4}),
    ),
    "report": Kind(
        _make_report, _mutate_report, lambda folder: ["rules", "--out", str(folder)], frozenset({0, REFUSED})
    ),
    "configuration": Kind(_make_configuration, _mutate_configuration, _check, frozenset({0, REFUSED})),
}
