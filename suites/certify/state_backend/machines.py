"""Random programs, by Hypothesis: one machine for tables and timers, one for checkpoints."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from holdfast.fixtures.storages.fault_points import StorageFault
from holdfast.harness.spi.errors import Full, Transient
from holdfast.harness.spi.state import Flag, Manifest, Timer
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.programs import run_machine
from holdfast.suites.certify.state_backend.bench import EPOCH, GROUPS, Bench, never, require_manifest
from holdfast.suites.certify.state_backend.live import MERGED, Live, OpenScan, Taken
from holdfast.suites.certify.state_backend.model import TIMER_KINDS, element

EXAMPLES = 120
STEPS = 25
MOST_OPEN = 3
groups = st.sampled_from([GROUPS.start, GROUPS.stop - 1])
namespaces = st.sampled_from([b"", b"n"])
keys = st.sampled_from([b"", b"a", b"ab"])
values = st.sampled_from([b"", b"1", b"\x00\xff"])
numbers = st.integers(0, 11)


class _Machine(RuleBasedStateMachine):
    """What both machines do: write."""

    outer: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(self.outer.factory, self.outer.other, self.outer.rule)
        self.bench.windows = self.outer.windows
        self.live: Live = self.bench.fresh()
        kinds = {each.name: each.kind for each in self.bench.states}
        self.timer_states = [name for name, kind in kinds.items() if kind in TIMER_KINDS]
        self.table_states = [name for name, kind in kinds.items() if kind not in TIMER_KINDS]
        self.merged_states = [name for name, kind in kinds.items() if kind in MERGED]

    @rule(number=numbers, group=groups, namespace=namespaces, key=keys, value=values, other=keys)
    def put(self, number: int, group: int, namespace: bytes, key: bytes, value: bytes, other: bytes) -> None:
        plain = [name for name in self.table_states if name not in self.merged_states]
        self.live.put(plain[number % len(plain)], group, namespace, [(key, value), (other, b"twin")])

    @precondition(lambda self: self.merged_states)
    @rule(number=numbers, group=groups, namespace=namespaces, key=keys, value=values)
    def merge(self, number: int, group: int, namespace: bytes, key: bytes, value: bytes) -> None:
        state = self.merged_states[number % len(self.merged_states)]
        self.live.merge(state, group, namespace, [(key, element(value)), (key, element(b"x"))])

    @rule(number=numbers, group=groups, namespace=namespaces, key=keys)
    def remove(self, number: int, group: int, namespace: bytes, key: bytes) -> None:
        self.live.remove(self.table_states[number % len(self.table_states)], group, namespace, [key, b"a"])

    @rule(number=numbers, group=groups, namespace=namespaces)
    def clear(self, number: int, group: int, namespace: bytes) -> None:
        self.live.clear(self.table_states[number % len(self.table_states)], group, namespace)

    @precondition(lambda self: self.timer_states)
    @rule(number=numbers, group=groups, key=st.sampled_from([b"", b"a"]), at_ms=st.integers(0, 2), added=st.booleans(),
          deleted=st.booleans())  # fmt: skip
    def timer(self, number: int, group: int, key: bytes, at_ms: int, added: bool, deleted: bool) -> None:
        timers = [Timer(at_ms, group, b"n", key), Timer(at_ms + 1, group, key, b"")]
        state = self.timer_states[number % len(self.timer_states)]
        if added:
            self.live.add_timers(state, timers)
        if deleted:
            self.live.delete_timers(state, timers[:1])

    @precondition(lambda self: self.timer_states)
    @rule(number=numbers, until_ms=st.integers(-1, 5), limit=st.integers(1, 3))
    def poll(self, number: int, until_ms: int, limit: int) -> None:
        self.live.poll(self.timer_states[number % len(self.timer_states)], until_ms, limit)

    @rule(passed_ms=st.sampled_from([1, 49, 50, 100]))
    def wait(self, passed_ms: int) -> None:
        self.bench.now_ms += passed_ms

    @rule()
    def compare(self) -> None:
        self.live.compare()

    def teardown(self) -> None:
        if failed := self.bench.close():
            raise failed[0]


class TableMachine(_Machine):
    """Tables, timers and scans."""

    def __init__(self) -> None:
        super().__init__()
        self.scans: list[OpenScan] = []

    @rule(number=numbers, group=groups, namespace=namespaces, key=keys)
    def get(self, number: int, group: int, namespace: bytes, key: bytes) -> None:
        self.live.get(self.table_states[number % len(self.table_states)], group, namespace, [key, b"a", key])

    @precondition(lambda self: len(self.scans) < MOST_OPEN)
    @rule(number=numbers, group=groups, namespace=namespaces, start=keys, end=st.none() | keys)
    def scan(self, number: int, group: int, namespace: bytes, start: bytes, end: bytes | None) -> None:
        state = self.table_states[number % len(self.table_states)]
        self.scans.append(self.live.scan(state, group, namespace, start, end))

    @rule(number=numbers, group=groups, namespace=namespaces, value=values)
    def scan_while_writing(self, number: int, group: int, namespace: bytes, value: bytes) -> None:
        state = self.table_states[number % len(self.table_states)]
        scan = self.live.scan(state, group, namespace)
        scan.take(1)
        self.live.put(state, group, namespace, [(b"ab", value), (b"z", value)])
        self.live.remove(state, group, namespace, [b"b"])
        scan.finish()

    @precondition(lambda self: self.scans)
    @rule(number=numbers)
    def take(self, number: int) -> None:
        self.scans[number % len(self.scans)].take(1)

    @precondition(lambda self: self.scans)
    @rule(number=numbers)
    def finish_scan(self, number: int) -> None:
        self.bench.hit("random-scan")
        self.scans.pop(number % len(self.scans)).finish()

    @rule()
    def snapshot(self) -> None:
        self.live.snapshot().snapshot.release()


class CheckpointMachine(_Machine):
    """Snapshots, uploads that writes overlap, and everything that can become of a checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[Taken] = []
        self.uploaded: dict[int, Manifest] = {}
        self.under_way: Taken | None = None

    @initialize()
    def begin(self) -> None:
        self.put(0, GROUPS.start, b"", b"a", b"1", b"b")

    @precondition(lambda self: len(self.open) < MOST_OPEN)
    @rule()
    def snapshot(self) -> None:
        self.open.append(self.live.snapshot())

    @precondition(lambda self: not self.open)
    @rule(aborted=st.booleans(), restored=st.booleans(), group=groups)
    def checkpoint(self, aborted: bool, restored: bool, group: int) -> None:
        """All of a checkpoint at once, with a removal behind its snapshot of what was put before it."""
        self.put(0, group, b"", b"a", b"1", b"b")
        taken = self.live.snapshot()
        for state in self.table_states:
            self.live.remove(state, group, b"", [b"a"])
        manifest = self.bench.upload(taken)
        if aborted:
            self.bench.abort(self.live, taken, manifest)
        else:
            completed = self.bench.complete(self.live, taken, manifest)
            if restored:
                self.bench.restored(completed, claimed=False).compare(drain_timers=True)
        taken.snapshot.release()

    @precondition(lambda self: self._waiting())
    @rule(number=numbers)
    def begin_upload(self, number: int) -> None:
        waiting = self._waiting()
        taken = waiting[number % len(waiting)]
        if Flag.ASYNC_SNAPSHOT not in self.bench.flags:
            self.uploaded[taken.checkpoint] = self.bench.upload(taken)
            return
        streams = self.bench.storage().streams(taken.checkpoint, EPOCH)
        self.bench.thread.start(lambda: taken.snapshot.upload(streams, never))
        self.under_way = taken
        if not self.bench.thread.done:
            self.bench.hit("snapshot-overlapped-a-write")

    @precondition(lambda self: self.under_way)
    @rule(last=st.booleans())
    def go_on(self, last: bool) -> None:
        self.bench.thread.step()
        if last or self.bench.thread.done:
            self._end_upload()

    @precondition(lambda self: self.under_way is None and (self._waiting() or len(self.open) < MOST_OPEN))
    @rule(number=numbers, operation=st.integers(0, 4), fault=st.sampled_from([StorageFault.ERROR, StorageFault.FULL,
                                                                            StorageFault.LOST_ANSWER]))  # fmt: skip
    def fail_upload(self, number: int, operation: int, fault: StorageFault) -> None:
        if not self._waiting():
            self.snapshot()
        waiting = self._waiting()
        taken = waiting[number % len(waiting)]
        try:
            self.uploaded[taken.checkpoint] = self.bench.upload(taken, self.bench.storage({operation: fault}))
        except (Transient, Full):
            self.bench.hit("random-upload-error")

    @precondition(lambda self: self.uploaded)
    @rule(number=numbers, restored=st.booleans())
    def complete(self, number: int, restored: bool) -> None:
        checkpoint = sorted(self.uploaded)[number % len(self.uploaded)]
        [taken] = [each for each in self.open if each.checkpoint == checkpoint]
        older = [each for each in self.open if each.checkpoint < checkpoint and each is not self.under_way]
        self.open.remove(taken)
        completed = self.bench.complete(self.live, taken, self.uploaded.pop(checkpoint))
        taken.snapshot.release()
        for each in older:  # A checkpoint that completes subsumes those before it.
            self._abort(each)
        if restored:
            self.bench.restored(completed, claimed=False).compare(drain_timers=True)

    @precondition(lambda self: any(each is not self.under_way for each in self.open))
    @rule(number=numbers)
    def abort(self, number: int) -> None:
        idle = [each for each in self.open if each is not self.under_way]
        self._abort(idle[number % len(idle)])

    @precondition(lambda self: self.bench.completed)
    @rule(swept=st.booleans())
    def restart(self, swept: bool) -> None:
        self._end_upload()
        open_ones, self.open = self.open, []
        self.uploaded.clear()
        self.bench.pending.clear()
        self.live = self.bench.restored(self.bench.completed[-1])
        self.live.compare()
        self.bench.hit("restarted")
        if swept:
            for taken in open_ones:
                self.bench.sweep(taken.checkpoint)

    @precondition(lambda self: self.bench.completed)
    @rule(middle=st.integers(GROUPS.start + 1, GROUPS.stop - 1))
    def rescale(self, middle: int) -> None:
        for number, part in enumerate((range(GROUPS.start, middle), range(middle, GROUPS.stop))):
            restored = self.bench.restored(self.bench.completed[-1], part, subtask=number, claimed=False)
            restored.compare(drain_timers=True)
            restored.close()

    @precondition(lambda self: self.open and self.under_way is None and Flag.CANONICAL in self.bench.flags)
    @rule(number=numbers)
    def move(self, number: int) -> None:
        taken = self.open[number % len(self.open)]
        backend = self.bench.backend(self.bench.factory)
        entries: list[Any] = self.bench.elsewhere(lambda: list(taken.snapshot.entries()))
        backend.restore_entries(taken.snapshot.descriptors(), entries)
        moved = self.bench.adopt(backend, GROUPS, taken.model)
        moved.compare(drain_timers=True)
        backend.close()

    def teardown(self) -> None:
        try:
            self._end_upload()
        finally:
            super().teardown()

    def _waiting(self) -> list[Taken]:
        if self.under_way is not None:
            return []
        return [each for each in self.open if each.checkpoint not in self.uploaded]

    def _end_upload(self) -> None:
        if self.under_way is not None:
            taken, self.under_way = self.under_way, None
            self.uploaded[taken.checkpoint] = require_manifest(self.bench.thread.finish())
            self.bench.check_threads()

    def _abort(self, taken: Taken) -> None:
        self.open.remove(taken)
        self.bench.abort(self.live, taken, self.uploaded.pop(taken.checkpoint, None))
        taken.snapshot.release()


def _check(name: str, purpose: str, machine: type[_Machine], *windows: str) -> Check[Bench]:
    return Check(name, purpose, lambda bench: run_machine(machine, bench, EXAMPLES, STEPS, windows), windows=windows)


MACHINES = (
    _check("SBK-01/program", "Random programs of writes, merges, scans, timers and time.", TableMachine, "random-scan"),
    _check("SBK-03/program", "Random programs of snapshots, uploads, aborts, crashes and restores.", CheckpointMachine,
           "restarted", "random-upload-error"),
)  # fmt: skip
