"""Kinds of what is mutated: how it is made once, how a copy of it is mutated, and which command then reads it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Final
from unittest.mock import patch

import msgspec

from holdfast.faults.process import kill
from holdfast.harness.cli import execute
from holdfast.harness.engine.artefacts.files import write_readable
from holdfast.harness.engine.artefacts.history_files import INPUTS, MANIFEST, OUTPUTS, manifest_digest
from holdfast.harness.engine.artefacts.json_files import write_plan
from holdfast.harness.engine.artefacts.owner import OURS, Owner
from holdfast.harness.engine.artefacts.stored_run import VERDICTS, open_run_folder, store_run
from holdfast.harness.engine.certification import begun
from holdfast.harness.engine.executor.run import run_plan
from holdfast.harness.engine.executor.run_folder import UNDO
from holdfast.harness.engine.exploration.ledger import LEDGER
from holdfast.harness.engine.exploration.long_campaign import LongCampaign
from holdfast.harness.engine.nights.night_folder import NIGHT
from holdfast.harness.engine.site import registry
from holdfast.harness.sim.streams import Stream
from holdfast.harness.spi.fault import UndoRecord
from holdfast.suites.conformance.plans import WORKERS, plan
from holdfast.suites.selfcheck.abuse.mutations.values import (
    BY_SUFFIX,
    lay_something_else,
    mutate_parquet,
    mutated_bytes,
    mutated_json,
)
from holdfast.suites.selfcheck.reports.nights import finding, night, system, waived

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
    path.write_bytes(draw.choice(BY_SUFFIX.get(path.suffix, (mutated_bytes,)))(path.read_bytes(), draw))


def _mutate_place(path: Path, draw: Stream) -> None:
    """The content of a file, or what lies where it was."""
    (_mutate_file if draw.chance(0.8) else lay_something_else)(path, draw)


def _mutate_run(folder: Path, draw: Stream) -> None:
    """One file of a run, or its place."""
    run = folder / "run"
    path = draw.choice(sorted(path for path in run.rglob("*") if path.is_file()))
    _mutate_place(path, draw)


def _mutate_history(folder: Path, draw: Stream) -> None:
    """One file of a history, with a manifest that fits: who writes both can write anything, and is read with care."""
    history = folder / "run" / "history"
    path = draw.choice(sorted(path for path in history.iterdir() if path.suffix in (".json", ".jsonl")))
    _mutate_file(path, draw)
    if path.name != MANIFEST:
        mend_digests(history)


def _mutate_parquet(folder: Path, draw: Stream) -> None:
    history = folder / "run" / "history"
    path = history / draw.choice((INPUTS, OUTPUTS))
    if draw.chance(0.9):
        mutate_parquet(path, draw)
    else:
        _mutate_file(path, draw)
    mend_digests(history)


def mend_digests(history: Path) -> None:
    """Let the manifest of a history fit its files, and the verdicts beside it fit the manifest."""
    path = history / MANIFEST
    manifest = json.loads(path.read_bytes())
    for file in manifest["files"]:
        content = (history / file["name"]).read_bytes()
        file.update(length=len(content), sha256=hashlib.sha256(content).hexdigest())
    path.write_text(json.dumps(manifest))
    verdicts = history.parent / VERDICTS
    stored = json.loads(verdicts.read_bytes()) | {"history_sha256": manifest_digest(history)}
    verdicts.write_text(json.dumps(stored))


def _mutate_manifest(folder: Path, draw: Stream) -> None:
    _mutate_place(folder / "run" / "history" / MANIFEST, draw)


def _make_plan(folder: Path) -> None:
    write_plan(folder / "plan.json", PLAN)


def _mutate_plan(folder: Path, draw: Stream) -> None:
    path = folder / "plan.json"
    if draw.chance(0.1):
        lay_something_else(path, draw)
        return
    mutate = mutated_bytes if draw.chance(0.2) else mutated_json
    content = mutate(path.read_bytes(), draw)
    with suppress(ValueError, RecursionError):
        content = _not_long(content)
    path.write_bytes(content)


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
    undos = [UndoRecord(index, spec.kind, spec) for index, spec in enumerate(PLAN.faults)]
    (part / UNDO).write_bytes(b"".join(msgspec.json.encode(undo) + b"\n" for undo in undos))


def _mutate_owner(folder: Path, draw: Stream) -> None:
    _mutate_place(folder / ".run.part" / "owner.json", draw)


def _mutate_undo(folder: Path, draw: Stream) -> None:
    part = folder / ".run.part"
    path = draw.choice((part / UNDO, part / "plan.json"))
    _mutate_place(path, draw)


def _make_ledger(folder: Path) -> None:
    campaign = LongCampaign("reference", (1, 2), folder / "campaign")
    with campaign.ledger:
        list(campaign.draw(1, str))


def _mutate_ledger(folder: Path, draw: Stream) -> None:
    _mutate_place(folder / "campaign" / LEDGER, draw)


def _make_report(folder: Path) -> None:
    narrowed = ["--tier", "sim", "--rule", "BAR-01", "--jobs", "1", "--runs", "1", "--json"]
    with redirect_stdout(StringIO()):
        execute(["certify", "reference", *narrowed, "--out", str(folder)])


def _mutate_report(folder: Path, draw: Stream) -> None:
    _mutate_place(folder / "latest" / "results.json", draw)


def _mutate_certificate(folder: Path, draw: Stream) -> None:
    """Any file of it; most often what its verdict rests on."""
    names = ("results.json", "*.jsonl.gz", "runs/*/*.json", "runs/*/history/*", "**/*")
    found = sorted(path for path in (folder / "latest").glob(draw.choice(names)) if path.is_file())
    _mutate_place(draw.choice(found), draw)


def _make_interrupted(folder: Path) -> None:
    """Its end was never written."""
    with patch.object(begun, "end_begun"):
        _make_report(folder)
    (folder / "latest" / "results.json").unlink()


def _mutate_interrupted(folder: Path, draw: Stream) -> None:
    found = sorted([*(folder / "latest").glob("*.jsonl.gz"), folder / "latest" / "begun.json"])
    _mutate_place(draw.choice(found), draw)


def _make_nights(folder: Path) -> None:
    for name in ("2026-11-24", "2026-11-25"):
        (folder / name).mkdir()
        write_readable(folder / name / NIGHT, night(name, system(finding(), finding("CUT/loss", waived=waived()))))


def _mutate_night(folder: Path, draw: Stream) -> None:
    _mutate_place(folder / "2026-11-25" / NIGHT, draw)


def _make_configuration(folder: Path) -> None:
    (folder / "flink-conf.yaml").write_text(CONFIGURATION)


def _mutate_configuration(folder: Path, draw: Stream) -> None:
    _mutate_place(folder / "flink-conf.yaml", draw)
    if draw.chance(0.3) and os.path.lexists(folder / "flink-conf.yaml"):
        (folder / "flink-conf.yaml").rename(folder / "config.yaml")


def _check(folder: Path) -> Sequence[str]:
    return ["config", "check", str(next(folder.iterdir(), folder / "flink-conf.yaml"))]


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
    "certificate": Kind(
        _make_report,
        _mutate_certificate,
        lambda folder: ["verify", str(folder / "latest"), "--replay", "0"],
        frozenset({0, 1, 2, REFUSED}),
    ),
    "interrupted": Kind(
        _make_interrupted,
        _mutate_interrupted,
        lambda folder: ["report", str(folder / "latest")],
        frozenset({0, 1, 2, REFUSED}),
    ),
    "difference": Kind(
        _make_nights,
        _mutate_night,
        lambda folder: ["diff", str(folder / "2026-11-24"), str(folder / "2026-11-25")],
        frozenset({0, 1, REFUSED}),
    ),
    "trend": Kind(_make_nights, _mutate_night, lambda folder: ["trend", str(folder)], frozenset({0, REFUSED})),
    "configuration": Kind(_make_configuration, _mutate_configuration, _check, frozenset({0, 1, REFUSED})),
}
