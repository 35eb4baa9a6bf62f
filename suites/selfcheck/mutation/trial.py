"""One mutant on its plans, in a child process of its own."""

from __future__ import annotations

import os
import resource
import select
import signal
import time
from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path
from zlib import crc32

import msgspec

from holdfast.harness.engine.site import registry
from holdfast.harness.spi.system import System
from holdfast.suites.selfcheck.containment import Containment
from holdfast.suites.selfcheck.directed_plans import REFERENCE
from holdfast.suites.selfcheck.mutation.baseline import Expected, digest_of, first_difference
from holdfast.suites.selfcheck.mutation.loading import substitute
from holdfast.suites.selfcheck.mutation.source_mutants import MODULE_LEVEL, SourceMutant

RUN_CPU_S = 10.0
"""Processor time of one run; the longest one of the runtime itself takes a tenth of it."""
PLANS_EACH = 200
"""So many plans are run at most; which of those that reach the mutant is a matter of chance, and the same each time."""
NEVER_STARTED = 20
"""Who has started on none of so many plans is not tried on more."""
MEMORY_BYTES = 2 << 30
CHUNK_BYTES = 1 << 16


class Fate(StrEnum):
    """What became of a mutant."""

    REFUTED = "refuted"
    SURVIVOR = "survivor"
    """Its trace differs on some plan, and no oracle objects on any."""
    EQUIVALENT = "equivalent here"
    """Its trace differs on no plan."""
    UNREACHED = "not reached"
    """No plan calls its function."""
    STILLBORN = "does not start"
    """An error ends it before any process runs: in an import or at submission. Nobody can take it for right."""
    UNJUDGED = "not judged"
    """The harness could not finish a run, or its time was over."""


class Tried(msgspec.Struct, frozen=True):
    """One mutant and what became of it.

    Attributes:
        mutant: it.
        fate: see Fate.
        plan: that refuted it, or the first on which its trace differs.
        clause: that refuted it, as `ORACLE/clause`.
        event: the first event that differs on that plan, as JSON; empty: only what was dispatched differs.
        place: which event that is.
        reason: why it was not judged, or what ended its processes.
        runs: how many plans were run.
        differing: on how many of them its trace differs.
    """

    mutant: SourceMutant
    fate: Fate
    plan: str = ""
    clause: str = ""
    event: str = ""
    place: int = -1
    reason: str = ""
    runs: int = 0
    differing: int = 0


def tried(
    mutant: SourceMutant, root: Path, plans: Sequence[Expected], limit_s: float, refuting: Collection[str] = ()
) -> Tried:
    """Try a mutant in a child process.

    Args:
        mutant: it.
        root: of the source tree.
        plans: with what the untouched runtime did on each.
        limit_s: real time after which the child is ended.
        refuting: names of plans that refute many mutants, best first: they are run first.
    """
    reached = [plan for plan in plans if _reaches(plan, mutant)]
    rank = {name: place for place, name in enumerate(refuting)}
    reached.sort(key=lambda plan: (rank.get(plan.name, len(rank)), crc32(plan.name.encode())))
    reached = reached[:PLANS_EACH]
    if not reached:
        return Tried(mutant, Fate.UNREACHED)
    source = mutant.source((root / mutant.file).read_text())
    read_end, write_end = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(read_end)
        try:
            result = _inside(mutant, str(root / mutant.file), source, reached)
        except BaseException as error:  # whatever it is, the parent hears of it
            result = Tried(mutant, Fate.UNJUDGED, reason=f"{type(error).__name__}: {error}")
        os.write(write_end, msgspec.json.encode(result))
        os._exit(0)
    os.close(write_end)
    answer = _answer(read_end, limit_s)
    os.close(read_end)
    if not answer:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if answer:
        return msgspec.json.decode(answer, type=Tried)
    over = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    return Tried(mutant, Fate.UNJUDGED, reason=f"its {limit_s:g} s were over" if over else f"wait status {status}")


def _reaches(plan: Expected, mutant: SourceMutant) -> bool:
    """Whether a plan calls the mutated function; what is not in a function is met by all."""
    function = mutant.function
    last = function.rpartition(".")[2]
    if function == MODULE_LEVEL or last[:1].isupper() or (last.startswith("_") and last[1:2].isupper()):
        return True
    return f"{mutant.file}::{function}" in plan.functions


def _answer(end: int, limit_s: float) -> bytes:
    """What the child writes until it ends; empty if its time is over before."""
    chunks: list[bytes] = []
    over = time.monotonic() + limit_s
    while True:
        ready, _, _ = select.select([end], [], [], max(0.0, over - time.monotonic()))
        if not ready:
            return b""
        chunk = os.read(end, CHUNK_BYTES)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


def _inside(mutant: SourceMutant, path: str, source: str, plans: Sequence[Expected]) -> Tried:
    """In the child: load the mutant, and run until a verdict refutes it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    substitute(mutant.module, path, source)
    containment = Containment(RUN_CPU_S)
    try:
        system = registry.system(REFERENCE)
    except Exception as error:
        return Tried(mutant, Fate.STILLBORN, reason=f"{type(error).__name__}: {error}")
    with containment.installed():
        return _judged(mutant, system, plans, containment)


def _judged(mutant: SourceMutant, system: System, plans: Sequence[Expected], containment: Containment) -> Tried:
    tools = registry.toolbox()
    first, event, place, reason, differing = "", "", -1, "", 0
    broken: dict[Fate, str] = {}
    started = False
    for count, expected in enumerate(plans, 1):
        try:
            run = containment.run(expected.plan, system, tools)
        except Exception as error:
            fate = Fate.UNJUDGED if _had_begun(error) else Fate.STILLBORN
            broken.setdefault(fate, f"{expected.name}: {type(error).__name__}: {error}")
            if count >= NEVER_STARTED and not started:
                break
            continue
        started = True
        if digest_of(run) == expected.digest:
            continue
        differing += 1
        if not first:
            first, place = expected.name, first_difference(expected.events, run)
            events = run.history.events
            event = msgspec.json.encode(events[place], enc_hook=repr).decode() if place < len(events) else ""
        clause = next((f"{each.oracle}/{each.anomalies[0].clause}" for each in run.verdicts if each.anomalies), "")
        if clause:
            ended = containment.ended
            return Tried(mutant, Fate.REFUTED, expected.name, clause, reason=ended, runs=count, differing=differing)
        reason = reason or containment.ended
    for fate in (Fate.UNJUDGED, Fate.STILLBORN):
        if fate in broken:
            return Tried(mutant, fate, reason=broken[fate], runs=len(plans), differing=differing)
    if not differing:
        return Tried(mutant, Fate.EQUIVALENT, runs=len(plans))
    return Tried(mutant, Fate.SURVIVOR, first, "", event, place, reason, len(plans), differing)


def _had_begun(error: Exception) -> bool:
    """Whether an error came when processes ran already."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_name in ("advance", "stop", "_history"):
            return True
        trace = trace.tb_next
    return False
