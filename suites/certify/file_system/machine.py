"""Random programs of two file systems on one folder and a third on another one, beside a model."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from holdfast.harness.spi.errors import Transient
from holdfast.harness.spi.file_system import FileSystem, Upload
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.file_system.bench import Bench
from holdfast.suites.certify.outside.bench import bytes_of
from holdfast.suites.certify.programs import run_machine

STEPS = 30
EXAMPLES = {"memory": 150, "file": 60}
FEW_EXAMPLES = 12
"""Where each call goes over a wire, or is not known."""
SEATS = ("files", "files", "other")
"""The folder of each file system."""
seats = st.integers(0, len(SEATS) - 1)
paths = st.sampled_from(["a", "ab", "b/1", "b/10", "b/c/1"])
numbers = st.integers(0, 7)


class _Open:
    """A file under way."""

    def __init__(self, upload: Upload, folder: str, path: str) -> None:
        self.upload = upload
        self.folder = folder
        self.path = path
        self.content = b""
        self.removed = False


class FileSystemMachine(RuleBasedStateMachine):
    """What must be there, by folder and path."""

    outer: ClassVar[Bench]

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(self.outer.target, self.outer.rule)
        self.bench.windows = self.outer.windows
        self.seats: list[FileSystem] = [self.bench.files(folder) for folder in SEATS]
        self.there: dict[tuple[str, str], bytes] = {}
        self.open: list[_Open] = []

    @rule(seat=seats, path=paths)
    def begin(self, seat: int, path: str) -> None:
        if len(self.open) < 4:
            self.open.append(_Open(self.seats[seat].begin(path), SEATS[seat], path))

    @precondition(lambda self: self.open)
    @rule(number=numbers, size=st.sampled_from([0, 3, 5_000]))
    def write(self, number: int, size: int) -> None:
        each = self.open[number % len(self.open)]
        if not each.removed and self.bench.takes(len(each.content) + size):
            each.upload.write(bytes_of(size, number))
            each.content += bytes_of(size, number)

    @precondition(lambda self: self.open)
    @rule(number=numbers)
    def publish(self, number: int) -> None:
        each = self.open.pop(number % len(self.open))
        key = (each.folder, each.path)
        if key in self.there:
            right = (FileExistsError, Transient) if each.removed else FileExistsError
            self.bench.refuses(f"publish {each.path!r}, which is there", right, each.upload.publish)
            return
        try:
            each.upload.publish()
        except Transient:
            if not each.removed:
                raise
            return
        self.there[key] = each.content
        self.bench.hit("random-publication")

    @precondition(lambda self: self.open)
    @rule(number=numbers)
    def abandon(self, number: int) -> None:
        self.open.pop(number % len(self.open)).upload.abandon()

    @rule(seat=seats)
    def abandon_uploads(self, seat: int) -> None:
        self.seats[seat].abandon_uploads()
        for each in self.open:
            each.removed |= each.folder == SEATS[seat]

    @rule(seat=seats, some=st.lists(paths, max_size=3))
    def remove(self, seat: int, some: list[str]) -> None:
        self.bench.require_removed(self.seats[seat], some)
        for path in some:
            self.there.pop((SEATS[seat], path), None)

    @rule(seat=seats, path=paths)
    def read(self, seat: int, path: str) -> None:
        content = self.there.get((SEATS[seat], path))
        if content is None:
            self.bench.require_absent(self.seats[seat], path)
        else:
            self.bench.require_content(self.seats[seat], path, content)

    @rule(seat=seats, path=paths, start=st.integers(0, 6_000), length=st.integers(0, 6_000))
    def read_range(self, seat: int, path: str, start: int, length: int) -> None:
        content = self.there.get((SEATS[seat], path))
        if content is not None:
            found = b"".join(self.seats[seat].read(path, start, start + length))
            if found != content[start : start + length]:
                raise Violation(self.bench.rule, f"read({start}, {start + length}) of {path!r} gives other bytes.")

    @rule(seat=seats, folder=st.sampled_from(["", "b", "b/c", "a"]))
    def list_folder(self, seat: int, folder: str) -> None:
        own = [path for owner, path in self.there if owner == SEATS[seat]]
        below = [path for path in own if not folder or path.startswith(f"{folder}/")]
        self.bench.require_paths(self.seats[seat], folder, below)

    @rule(seat=seats)
    def another_process(self, seat: int) -> None:
        """A file system is closed, and another one takes its seat; what was under way is lost."""
        self.seats[seat].close()
        self.seats[seat] = self.bench.files(SEATS[seat])
        self.open.clear()

    def teardown(self) -> None:
        failed = self.bench.close()
        if failed:
            raise failed[0]


def program(bench: Bench) -> None:
    scheme = bench.target.uri.partition("://")[0] or "file"
    run_machine(FileSystemMachine, bench, EXAMPLES.get(scheme, FEW_EXAMPLES), STEPS)


PROGRAMS: tuple[Check[Any], ...] = (
    Check("STO-02/program", "Random programs of files under way, published, read, listed and removed.", program,
          windows=("random-publication",)),
)  # fmt: skip
