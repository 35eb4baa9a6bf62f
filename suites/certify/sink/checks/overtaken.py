"""TPC-01, TPC-06: an attempt is over when the next one has begun, at whatever step it stands still, in any process."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.harness.spi.errors import Fenced, Transient
from holdfast.harness.spi.sink import Row, SinkFlag
from holdfast.suites.certify.check import CannotTry, Check, Violation
from holdfast.suites.certify.outside.messages import Act, Report
from holdfast.suites.certify.outside.sink_performer import OPERATOR, prepared
from holdfast.suites.certify.outside.victims import Victims
from holdfast.suites.certify.sink.attempts import Attempt, Promise
from holdfast.suites.certify.sink.bench import Bench
from holdfast.suites.certify.sink.checks.commits import FAULTS, MOST_POINTS
from holdfast.suites.certify.sink.jobs import Job


def another_process(bench: Bench) -> None:
    """The next attempt begins there, and the one that is over goes on here."""
    job = bench.job()
    job.write(0)
    job.checkpoint()
    old, late = job.attempt, [job.row(b"a")]
    lost: Sequence[Promise] = ()
    if bench.two_phase:
        job.write(1)
        lost = job.pending[job.prepare()]
    row = job.row(b"a")
    _written(bench, job, row)
    if row not in bench.rows():
        if bench.description.committed_reader:
            raise Violation(bench.rule, f"{row.value!r} was committed by another process, and is not visible.")
        raise CannotTry("what another process writes is not seen in this one")
    bench.owed[row] += 1
    job.table[row.key] = [row.value]
    bench.hit("zombie")
    _ignored(bench, lambda: job.commit_once(lost, old))
    _ignored(bench, lambda: old.write(0, late))
    _ignored(bench, lambda: job.commit_once([old.prepare(0, 99, late=True)], old))
    bench.check()


def _ignored(bench: Bench, call: Callable[[], object]) -> None:
    try:
        call()
    except (Fenced, Transient) as error:
        bench.step(f"    {error}")


def synchronised(bench: Bench) -> None:
    """The power is lost behind each phase of other processes, whose calls of fsync are watched."""
    if bench.description.committed_reader == "sqlite":
        raise CannotTry("nobody sees what SQLite synchronises")
    job = bench.job()
    others = bench.elsewhere(job.name)
    row, number = job.row(), job.attempt.number + 1
    bench.step(f"another process begins attempt {number}, writes {row.value!r} and prepares; then the power is lost")
    begin = Act("begin", epoch=number, now_ms=bench.now_ms)
    first = _done(others, [begin, prepared([row], 100, bench.now_ms)], power_lost=True)
    lost, watched = list(first.lost), first.watched
    if bench.two_phase:
        bench.step(f"one begins attempt {number + 1} with what was prepared, and commits; then the power is lost")
        begin = Act("begin", epoch=number + 1, content=first.outcomes[1].content, now_ms=bench.now_ms)
        try:
            second = _done(others, [begin, Act("commit", now_ms=bench.now_ms)], power_lost=True)
        except Violation as error:
            if lost:
                raise Violation(bench.rule, _took(lost)) from error
            raise
        lost.extend(second.lost)
        watched = watched or second.watched
    if not watched:
        raise CannotTry("it writes no files of this machine by Python, whose synchronisation could be watched")
    if lost and row not in bench.rows():
        raise Violation(bench.rule, _took(lost))


def _took(lost: Sequence[str]) -> str:
    return f"a loss of power takes away what was prepared or committed: {lost[0]}."


def _written(bench: Bench, job: Job, row: Row) -> None:
    """The next attempt begins in another process, writes a row, and commits it."""
    number = job.attempt.number + 1
    bench.step(f"another process begins attempt {number}, writes {row.value!r}, prepares and commits")
    begin = Act("begin", epoch=number, now_ms=bench.now_ms)
    _done(bench.elsewhere(job.name), [begin, prepared([row], 100, bench.now_ms), Act("commit", now_ms=bench.now_ms)])


def _done(others: Victims, acts: Sequence[Act], *, power_lost: bool = False) -> Report:
    report = others.run(acts, power_lost=power_lost)
    for outcome in report.outcomes:
        if outcome.error:
            raise Violation(others.rule, f"another process met {outcome.error}: {outcome.text}")
    return report


UPSERTS = frozenset({SinkFlag.UPSERT, SinkFlag.FAULT_POINTS})
Call = Callable[[], object]


def commits(bench: Bench) -> None:
    """Of a checkpoint that completed, which the next attempt commits, too; and of one that the next attempt aborts."""

    def promised(job: Job) -> tuple[Call, Call]:
        job.complete(job.prepare())
        dead, promises = job.attempt, list(job.completed)
        return lambda: job.commit_once(promises, dead), lambda: _succeed(bench, job)

    def never_promised(job: Job) -> tuple[Call, Call]:
        dead, promises = job.attempt, job.pending[job.prepare()]

        def meanwhile() -> None:
            _landed(bench, job)
            _succeed(bench, job)

        return lambda: job.commit_once(promises, dead), meanwhile

    for setting in (promised, never_promised):
        _at_each_step(bench, setting.__name__, setting)


def writers(bench: Bench) -> None:
    """Rows and a first phase that arrive late; what came of them is committed later still, by the dead attempt."""

    def written(job: Job) -> tuple[Call, Call]:
        dead, rows = job.attempt, [job.row()]

        def call() -> None:
            dead.write(0, rows)
            job.commit_once([dead.prepare(0, 99)], dead)

        def meanwhile() -> None:
            _landed(bench, job)
            _succeed(bench, job)

        return call, meanwhile

    _at_each_step(bench, "written", written)


def values(bench: Bench) -> None:
    """A row that arrives late, and one of its key that the next attempt has written."""

    def replaced(job: Job) -> tuple[Call, Call]:
        dead, key = job.attempt, job.name.encode()
        late = [job.row(key)]

        def call() -> None:
            dead.write(0, late)
            dead.prepare(0, 99)

        def meanwhile() -> None:
            job.restart()
            job.write(0, 1, key)
            job.prepare()
            bench.check()

        return call, meanwhile

    _at_each_step(bench, "replaced", replaced)


def begins(bench: Bench) -> None:
    """The attempt between two others begins while the last one works."""

    def begun(job: Job) -> tuple[Call, Call]:
        job.complete(job.prepare())
        restored = [each for promise in job.completed for each in promise.committables]
        job.crash()
        late = Attempt(bench, job.name, job.operator, job.attempt.number + 1)
        job.dead.append(late)

        def call() -> None:
            late.sink.begin(restored, now_ms=bench.now_ms)
            bench.points.disarm()  # It is `begin` alone that stands still.
            late.deploy(1)
            late.write(0, [job.row()])
            job.commit_once([late.prepare(0, 99)], late)

        def meanwhile() -> None:
            job.start(job.parallelism)
            job.write(0)
            job.prepare()

        return call, meanwhile

    _at_each_step(bench, "begun", begun)


def _landed(bench: Bench, job: Job) -> None:
    """What is visible before anybody else begins was committed by an attempt that lived."""
    own = f"{job.name}/".encode()
    landed = {row for row in bench.rows() if row.value.startswith(own)} - {*bench.owed}
    bench.owed.update(landed)
    job.table.update({row.key: [row.value] for row in landed})


def _succeed(bench: Bench, job: Job) -> None:
    """The next attempt begins and works."""
    job.restart()
    job.write(0)
    job.checkpoint()
    bench.check()
    job.write(1)
    job.prepare()


def _at_each_step(bench: Bench, name: str, setting: Callable[[Job], tuple[Call, Call]]) -> None:
    for number in range(MOST_POINTS):
        job = bench.job(f"{name.replace('_', '-')}-{number}", operator=OPERATOR)
        job.write(0)
        job.checkpoint()
        job.write(0)
        job.write(1)
        call, meanwhile = setting(job)
        bench.step(f"the next call of attempt {job.attempt.number} stands still at step {number}")
        bench.points.hold(number, meanwhile)
        try:
            call()
        except Exception as error:  # Whatever it says, it must have no effect.
            if bench.points.broken is None:
                bench.step(f"    {type(error).__name__}: {error}")
        if bench.points.broken is not None:  # Of the attempt that lives.
            raise bench.points.broken
        held = bench.points.held
        bench.points.disarm()
        if not held:  # All of the call was done, and nobody came.
            _landed(bench, job)
            return
        bench.hit("stood-still")
        bench.check()
        _ends(bench, job)
        job.end()


def _ends(bench: Bench, job: Job) -> None:
    """The newest attempt completes what it has prepared, and another one finds nothing left."""
    newest: list[Promise] = [promise for promises in job.pending.values() for promise in promises]
    assert newest
    job.complete(max(job.pending))
    job.commit()
    bench.check()
    job.restart()
    bench.check()
    bench.check_unfinished(job)


CHECKS = (
    Check("TPC-06/late-commit", "A commit that arrives behind the next begin changes nothing that is visible.", commits,
          FAULTS, ("stood-still",)),
    Check("TPC-06/late-writer", "Rows that arrive behind the next begin are never visible.", writers, FAULTS,
          ("stood-still",)),
    Check("TPC-06/late-values", "A row that arrives behind the next begin replaces no newer one.", values, UPSERTS,
          ("stood-still",)),
    Check("TPC-06/late-begin", "A begin that arrives behind a newer one fences nobody but its own attempt.", begins,
          FAULTS, ("stood-still",)),
    Check("TPC-06/another-process", "An attempt is over when the next one has begun in any process.", another_process,
          windows=("zombie",)),
    Check("TPC-01/synchronised", "What is prepared, and what is committed, survives a loss of power.", synchronised),
)  # fmt: skip
