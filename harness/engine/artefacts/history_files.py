"""A history as files, and back: nothing of it can be cut or edited unseen.

`manifest.json` names every file with length and SHA-256. Each node has one `<node>.jsonl`, one event per line; only
the last line of a node whose death is recorded may be torn. `run.json` holds the rest: what was claimed, how it ended,
and the order in which the events were judged.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from holdfast.harness.engine.artefacts.files import inside, require_folder, require_regular
from holdfast.harness.engine.artefacts.json_files import check_version, decode, plan_digest
from holdfast.harness.engine.artefacts.output_file import OutputFile
from holdfast.harness.engine.artefacts.record_files import read_inputs, write_inputs, write_outputs
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.model.capability import Claims
from holdfast.harness.model.events import SCHEMA_VERSION, AnyEvent, Event, NodeDied
from holdfast.harness.model.history import (
    HISTORY_VERSION,
    FileDigest,
    History,
    Manifest,
    RunEnd,
    causal_order,
)
from holdfast.harness.model.plan import Plan
from holdfast.harness.spi.outside_files import EVENTS_BYTES, OutsideFileError, read_outside

MANIFEST = "manifest.json"
INPUTS = "inputs.parquet"
OUTPUTS = "outputs.parquet"
RUN = "run.json"
_EVENTS = ".jsonl"


class _RunFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`order`: for each event as judged, the index of its node in the order of file names; None: by causality."""

    claims: Claims
    end: RunEnd
    order: tuple[int, ...] | None = None


def write_history(folder: Path, history: History) -> Manifest:
    """Write a history into an existing folder; the manifest comes last."""
    nodes: dict[str, list[Event]] = {}
    for event in history.events:
        nodes.setdefault(event.node, []).append(event)
    names = sorted(nodes)
    place = {name: index for index, name in enumerate(names)}
    encode = msgspec.json.Encoder(order="deterministic").encode  # Sets have another order in each process.
    for name in names:
        (folder / _file_of(name)).write_bytes(b"".join(encode(event) + b"\n" for event in nodes[name]))
    facts = _RunFacts(history.claims, history.end, tuple(place[event.node] for event in history.events))
    (folder / RUN).write_bytes(encode(facts))
    write_inputs(folder / INPUTS, history.inputs)
    write_outputs(folder / OUTPUTS, history.output, history.plan.job.contract)
    manifest = Manifest(
        version=HISTORY_VERSION,
        plan_sha256=plan_digest(history.plan),
        dead_nodes=tuple(sorted({event.dead_node for event in history.of(NodeDied)})),
        files=tuple(_digest_of(path.name, path.read_bytes()) for path in sorted(folder.iterdir())),
    )
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))
    return manifest


def read_history(folder: Path, plan: Plan, output: OutputFile | None = None) -> History:
    """The history that a folder holds.

    Args:
        folder: with a manifest.
        plan: that the history must belong to.
        output: the committed output, if it is not in the folder.

    Raises:
        UsageError: something is missing, torn, edited, of a newer version or of another plan; it names file and line.
    """
    output = output or OutputFile(str(folder / OUTPUTS))
    require_folder(folder)
    manifest = _read_manifest(folder)
    if manifest.plan_sha256 != plan_digest(plan):
        raise UsageError(f"{folder / MANIFEST}: this history belongs to another plan than the one beside it.")
    _check_names(folder, manifest)
    nodes = []
    for file in manifest.files:
        path = folder / file.name
        if file.name == OUTPUTS:
            _check_digest(output.url, output.digest(file.length), file)
            continue
        if file.name == INPUTS:
            _check_digest(str(path), OutputFile(str(path)).digest(file.length), file)
            continue
        content = _content(path)
        if file.name.endswith(_EVENTS):
            nodes.append(_read_node(path, content, file, manifest.dead_nodes))
        _check_digest(str(path), _digest_of(file.name, content), file)
    facts = decode(_content(folder / RUN), _RunFacts, str(folder / RUN))
    return History(
        plan,
        facts.claims,
        read_inputs(folder / INPUTS, str(folder / INPUTS)),
        output.read(plan.job.contract),
        _ordered(nodes, facts.order, str(folder / RUN)),
        facts.end,
    )


def manifest_digest(folder: Path) -> str:
    """SHA-256 of the manifest of a history, for whoever keeps it elsewhere."""
    return hashlib.sha256(_content(folder / MANIFEST)).hexdigest()


def _read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    raw = _content(path)
    check_version(raw, HISTORY_VERSION, "history", str(path))
    return decode(raw, Manifest, str(path))


def _check_names(folder: Path, manifest: Manifest) -> None:
    """A manifest names each file once, all that are there, and none elsewhere."""
    known = Counter(file.name for file in manifest.files)
    for name, times in known.items():
        require_regular(inside(folder, name))
        if times > 1:
            raise UsageError(f"{folder / MANIFEST}: names {name!r} {times} times; record the run again.")
    for path in sorted(folder.iterdir()):
        if path.name != MANIFEST and path.name not in known:
            raise UsageError(f"{path}: the manifest does not name this file; remove it or record the run again.")


def _content(path: Path) -> bytes:
    try:
        return read_outside(path, EVENTS_BYTES)
    except OutsideFileError as error:
        raise UsageError(f"{path}: {error}.") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); name the folder of a whole run.") from error


def _read_node(path: Path, content: bytes, file: FileDigest, dead_nodes: tuple[str, ...]) -> list[Event]:
    node = unquote(file.name.removesuffix(_EVENTS))
    events: list[Event] = []
    for number, line in enumerate(BytesIO(content)):
        if not line.endswith(b"\n"):
            if node in dead_nodes:
                break
            raise UsageError(f"{path}:{number + 1}: torn line of a node that did not die; record the run again.")
        source = f"{path}:{number + 1}"
        check_version(line, SCHEMA_VERSION, "history event", source)
        event: Event = decode(line, AnyEvent, source)  # type: ignore[arg-type]
        if (event.node, event.sequence) != (node, number):
            raise UsageError(
                f"{source}: event {event.sequence} of node {event.node!r} stands where event {number} of {node!r} "
                "belongs; lines were removed, added or moved: record the run again."
            )
        events.append(event)
    return events


def _check_digest(source: str, found: FileDigest, written: FileDigest) -> None:
    if found.length != written.length:
        raise UsageError(
            f"{source}: {found.length} bytes long, but {written.length} were written; record the run again."
        )
    if found.sha256 != written.sha256:
        raise UsageError(f"{source}: the content was edited (SHA-256 differs from the manifest); record the run again.")


def _ordered(nodes: Sequence[Sequence[Event]], order: tuple[int, ...] | None, source: str) -> list[Event]:
    if order is None:
        return causal_order(nodes)
    counts = Counter(order)
    if any(counts[index] != len(node) for index, node in enumerate(nodes)) or len(order) != sum(map(len, nodes)):
        raise UsageError(f"{source}: order does not fit the events of the nodes; record the run again.")
    heads = [iter(node) for node in nodes]
    return [next(heads[index]) for index in order]


def _file_of(node: str) -> str:
    return quote(node, safe="") + _EVENTS


def _digest_of(name: str, content: bytes) -> FileDigest:
    return FileDigest(name, len(content), hashlib.sha256(content).hexdigest())
