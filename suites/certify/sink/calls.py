"""The calls of a drawn program: what each step does to the jobs of a place, and what must be seen behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise

from holdfast.harness.spi.errors import Fenced, Transient
from holdfast.harness.spi.sink import OutcomeKind, Row, SinkFlag
from holdfast.suites.certify.check import Violation, excerpt
from holdfast.suites.certify.connector_kit import Crashed
from holdfast.suites.certify.outside.sink_performer import OPERATOR
from holdfast.suites.certify.programs import Step
from holdfast.suites.certify.sink.attempts import Attempt, Promise
from holdfast.suites.certify.sink.bench import LATE, Bench
from holdfast.suites.certify.sink.jobs import DONE, Job
from holdfast.suites.certify.sink.row_calls import RowCalls

NAMES = (
    (("job", OPERATOR), ("job-1", OPERATOR), ("job-10", OPERATOR), ("job", "sin")),
    (("job", OPERATOR), ("job", "sink-1"), ("job", "sink_1"), ("job", "sin")),
    (("a", "b-c"), ("a-b", "c"), ("a", "b_c"), ("a_b", "c")),
    (("a_b", "c"), ("axb", "c"), ("A_B", "c"), ("ab", "c")),
    (("a", "b_c"), ("a", "bxc"), ("a", "B_C"), ("a", "bc")),
    (("a", "b-c"), ("A", "b-c"), ("ab", "c"), ("a", "bc")),
)
"""Jobs and operators at one place whose names begin alike, or are alike when they are written behind each other, in
letters of another case, or where `_` stands for any sign."""
FIRST_ATTEMPTS = (1, 9, 99, 255)
SKIPPED = (0, 0, 0, 1, 2, 11)
FIRST_SKIPPED = 3
"""From here on some are."""
GAPS = (0, 0, 0, 1, 8, 90)
A_YEAR_MS = 365 * 24 * 3_600_000
LATE_ROWS = 1_300


class Calls(RowCalls):
    """One program at its place. Each number of a step is taken modulo what there is to choose from.

    Args:
        bench: of this program alone.
        jobs: how many there are.
        widths: numbers of subtasks of an attempt.
        many: transactions, where there are many.
        rows: of a large write.
        number: of the program.
        orderly: whether commits are in the order in which rows were written.
    """

    def __init__(
        self, bench: Bench, jobs: int, widths: Sequence[int], many: int, rows: int, number: int, *, orderly: bool
    ) -> None:
        super().__init__(bench, rows)
        self.widths = widths
        self.orderly = orderly or SinkFlag.UPSERT in bench.flags  # There the last one of a key would be another one.
        self.many_transactions = many
        self.first_attempt = FIRST_ATTEMPTS[number % len(FIRST_ATTEMPTS)]
        self.names = NAMES[number % len(NAMES)][:jobs]
        self.incomplete: dict[str, set[int]] = {}

    def make(self, step: Step) -> None:
        """A step, and a look at what is visible behind it."""
        if step.verb == "begin" or not self.jobs:
            self._begin(*step.numbers)
        if step.verb != "begin":
            which, *numbers = step.numbers
            job = self.jobs[which % len(self.jobs)]
            getattr(self, step.verb)(job, *numbers)
        self.check()

    def _begin(self, width: int, *_: int) -> None:
        for name, operator in self.names:
            parallelism = self.widths[width % len(self.widths)] if len(self.names) == 1 else 2
            self.jobs.append(self.bench.job(name, parallelism, operator=operator, first_attempt=self.first_attempt))

    # ---------------------------------------------------------------- checkpoints
    def prepare(self, job: Job, first: int, gap: int, _: int) -> None:
        """All subtasks, in any order."""
        job.newest_checkpoint += GAPS[gap % len(GAPS)]
        order = [(first + each) % job.parallelism for each in range(job.parallelism)]
        self.left_transactions -= job.parallelism
        job.prepare(order)

    def prepare_some(self, job: Job, first: int, count: int, _: int) -> None:
        """Prepare some subtasks of a checkpoint that fails."""
        order = [(first + each) % job.parallelism for each in range(1 + count % job.parallelism)]
        self.left_transactions -= len(order)
        self.incomplete.setdefault(job.id, set()).add(job.prepare(order))

    def complete(self, job: Job, which: int, noticed: int, _: int) -> None:
        """A checkpoint completes, whose notice may be lost."""
        if checkpoints := sorted(job.pending.keys() - self.incomplete.get(job.id, set())):
            job.complete(checkpoints[which % len(checkpoints)])
            if noticed % 3 == 0:
                job.commit()

    def checkpoint(self, job: Job, subtask: int, key: int, count: int) -> None:
        """All of a checkpoint at once; a row may come between its phases."""
        self.keyed(job, subtask, key, count)
        self.left_transactions -= job.parallelism
        checkpoint = job.prepare()
        if count // 4 % 2:
            self.write(job, subtask, 0, 1)
        job.complete(checkpoint)
        job.commit()

    def commit(self, job: Job, *_: int) -> None:
        """The notice."""
        job.commit()

    def commit_apart(self, job: Job, how: int, by: int, most: int) -> None:
        """What is completed is committed in several calls, by any objects of the attempt, in any order."""
        if job.attempt.writers and sum(bool(each.rows) for each in job.completed) < 2:
            for _ in range(2):
                self.write(job, how, 1, 1)
                job.complete(job.prepare())
        promises = list(job.completed)
        if not self.orderly:
            job.ordered = job.ordered and how % 4 == 0
            promises = [promises, promises[::-1], promises[len(promises) // 2 :] + promises[: len(promises) // 2],
                        promises[1::2] + promises[::2]][how % 4]  # fmt: skip
        size = 1 + how // 4 % 3
        for start in range(0, min(len(promises), 1 + most % (len(promises) + 1)), size):
            sink = [job.attempt.sink, job.attempt.another_sink(), (job.attempt.sinks or [job.attempt.sink])[-1]][by % 3]
            job.commit_some(promises[start : start + size], sink)
            if by // 3 % 4 == 0:
                job.attempt.another_sink().close()
            self.check()

    def commit_beside(self, job: Job, subtask: int, count: int, at: int) -> None:
        """What is completed is committed in one call with what was aborted."""
        if not self.bench.two_phase:
            return
        if not any(each.rows for each in job.aborted):
            self.write(job, subtask, count, 1)
            job.prepare()
            job.restart()
        for each in range(2):
            self.write(job, subtask + each, count, 1)
            job.complete(job.prepare())
        promises = list(job.completed)
        lost = [each for each in job.aborted if each.rows][-1 - count // 3 % 2 :]
        job.commit_some([*promises[: (at := at % (len(promises) + 1))], *lost, *promises[at:]])
        self.check()
        job.commit()

    def again(self, job: Job, which: int, how: int, mixed: int) -> None:
        """What was committed is committed again, beside what was aborted."""
        if not self.bench.two_phase or not job.committed:
            return
        place = which % len(job.committed)
        some = [job.committed[:1], job.committed[-2:], job.committed[place : place + 12], job.committed][how % 4]
        aborted = job.aborted[mixed // 4 % (len(job.aborted) + 1) :][:2]
        at = mixed // 4 % (len(some) + 1)
        self._ask(job, [*some[:at], *aborted, *some[at:]] if mixed % 4 == 0 else some)

    def _ask(self, job: Job, promises: Sequence[Promise]) -> None:
        """Commit what is decided, and see that it stays so.

        Raises:
            Violation: an outcome is another one, or something changed.
        """
        kinds = iter([each.kind for each in job.commit_once(promises)])
        self.bench.hit("committed-again")
        for promise in promises:
            found = {next(kinds) for _ in promise.committables}
            committed = any(promise is each for each in job.committed)
            if committed and not found <= DONE:
                raise Violation(
                    "TPC-05",
                    f"a commit again is {min(found - DONE)}; already is right. The contract says: "
                    f'"What was committed, however long ago, is ALREADY, or COMMITTED again."',
                )
            if not committed and promise.rows and found != {OutcomeKind.FAILED}:
                raise Violation(
                    "TPC-06",
                    f"a commit of what begin() aborts is {min(found)}; failed is right. The contract says: "
                    f'"They are not visible, and will never be."',
                )
        self.check()

    def many(self, job: Job, how: int, subtask: int, key: int) -> None:
        """Many transactions: committed one by one, or at once, by this attempt or the next; or aborted. Or many
        attempts."""
        count = self.many_transactions if self.many_transactions <= self.left_transactions else 3
        self.left_transactions -= count
        of = self._key(job, subtask, key) if key % 2 else None
        if how % 6 == 5:
            for _ in range(min(count, 17)):
                job.write(subtask % job.parallelism, 1)
                job.prepare()
                job.restart()
            return
        for _ in range(-(-count // job.parallelism)):
            for each in range(job.parallelism):
                job.write(each, 1, of if each == subtask % job.parallelism else None)
            checkpoint = job.prepare()
            if how % 6 == 0:
                job.complete(checkpoint)
                job.commit()
        self.check()
        if how % 6 in (1, 2, 4):
            job.complete(checkpoint)
        if how % 6 == 1:
            job.commit()
        if how % 6 == 4:
            for start in range(0, len(promises := list(job.completed)), 10):
                job.commit_some(promises[start : start + 10])
        if how % 6 in (2, 3):
            self.restart(job, key, 0, key // 4)

    def many_committed(self, job: Job, subtask: int, key: int, _: int) -> None:
        """Each by itself."""
        self.many(job, 0, subtask, key)

    def many_at_once(self, job: Job, subtask: int, key: int, _: int) -> None:
        """By one notice; one subtask's are of one key."""
        self.many(job, 1, subtask, key | 1)

    def many_restored(self, job: Job, subtask: int, key: int, _: int) -> None:
        """By the next attempt."""
        self.many(job, 2, subtask, key)

    def finish(self, job: Job, subtask: int, how: int, _: int) -> None:
        """The final checkpoint completes when its writers are closed."""
        self.write(job, subtask, how, 1)
        checkpoint = job.prepare()
        for _ in range(1 + how % 2):
            job.attempt.close_writers()
        job.complete(checkpoint)
        self.check()
        if how // 2 % 2:
            job.commit()
            self.check()
        job.restart()

    # ---------------------------------------------------------------- attempts
    def restart(self, job: Job, width: int, skipped: int, how: int) -> None:
        """The attempt dies, and another one goes on from the newest checkpoint."""
        if how // 16 % 3 == 0:
            job.attempt.close_writers()
        job.crash()
        self._next(job, width, skipped, how)

    def skip(self, job: Job, width: int, subtask: int, how: int) -> None:
        """It dies with what no checkpoint has, and of those behind it none begins for a while."""
        self.write(job, subtask, how, 1)
        job.prepare()
        job.crash()
        self._next(job, width, FIRST_SKIPPED + how % 3, how)

    def go_back(self, job: Job, number: int, width: int, how: int) -> None:
        """It goes on from an older one."""
        job.crash()
        job.go_back(number)
        self._next(job, width, how // 4, how)

    def die_early(self, job: Job, width: int, skipped: int, how: int) -> None:
        """The next attempt dies before it has committed what it goes on from, or between that."""
        if not job.completed:
            self.write(job, width, skipped, 1)
            job.complete(job.prepare())
        job.crash()
        job.begin(self._width(width))
        with suppress(Transient):
            job.commit_some(job.completed[: how % 3])
        self.check()
        job.crash()
        self._next(job, width // 4, skipped, how // 3)

    def _width(self, width: int) -> int:
        return self.widths[width % len(self.widths)] if len(self.jobs) == 1 else 1 + width % 3

    def _next(self, job: Job, width: int, skipped: int, how: int) -> None:
        """An attempt begins, whose restored transactions an older one may commit, too."""
        dead = job.dead[-1]
        if how // 32 % 2:
            job.newest_checkpoint = job.completed_checkpoint
            self.incomplete.pop(job.id, None)  # Their numbers come again.
        job.begin(self._width(width), skipped=SKIPPED[skipped % len(SKIPPED)], times=1 + how % 2)
        self.check()
        if how // 2 % 2:
            self._late(partial(job.commit_once, list(job.completed), dead))
            self.check()
        if how // 8 % 2 and job.completed:
            self.commit_apart(job, how // 16, how // 3, len(job.completed))
        job.commit()
        job.attempt.deploy(job.parallelism, in_one=how // 4 % 3 == 0)
        self.bench.hit("restarted")
        self.check()
        self._unfinished(job)

    def _unfinished(self, job: Job) -> None:
        if sum(each.name == job.name for each in self.jobs) == 1:
            self.bench.check_unfinished(job)

    def zombie(self, job: Job, which: int, how: int, what: int) -> None:
        """An attempt that is over goes on."""
        if zombies := job.zombies:
            self._goes_on(job, zombies[which % len(zombies)], how, what)

    def late_rows(self, job: Job, which: int, what: int, _: int) -> None:
        """It writes more than a buffer has room for."""
        if not job.dead:
            job.restart()
        zombies = job.zombies
        self._goes_on(job, zombies[which % len(zombies)], 0, what // 3 * 3)

    def overtaken(self, job: Job, how: int, what: int, _: int) -> None:
        """An attempt begins that a newer one has overtaken."""
        begun = {each.number for each in (*job.dead, *job.overtaken)}
        number = job.attempt.number - 1
        if number < 1 or number in begun:
            return
        attempt = Attempt(self.bench, job.name, job.operator, number)
        job.overtaken.append(attempt)
        self.bench.step(f"{job.name}: attempt {number} begins when {job.attempt.number} has begun")
        if self._late(lambda: attempt.sink.begin(job.restored if how % 2 else [], now_ms=self.bench.now_ms)):
            self.check()
            if self._late(lambda: attempt.deploy(1)):
                self._goes_on(job, attempt, how // 2, what)
        attempt.end()

    def _goes_on(self, job: Job, old: Attempt, how: int, what: int) -> None:
        subtask = what % max(1, len(old.writers))
        waiting = [each for promises in job.pending.values() for each in promises]
        if how % 5 < 2 and old.writers and old.writes:  # Late rows, or what it had written.
            if how % 5 == 0:
                count = max(self.many_rows, LATE_ROWS) if what % 3 == 0 else 1
                rows = [
                    Row(self._own(job, b"key-0") if what % 2 else LATE + b"%d" % n, LATE + b"%d" % n)
                    for n in range(count)
                ]
                self._late(lambda: old.write(subtask, rows))
                self.check()
            number = max(job.newest_checkpoint, old.newest_checkpoint) + 1
            self._late(lambda: job.commit_once([old.prepare(subtask, number, late=True)], old))
        elif how % 5 == 2:
            self._late(lambda: job.commit_once(job.aborted[what % (len(job.aborted) + 1) :], old))
        elif how % 5 == 3:
            self._late(lambda: job.commit_once([*job.completed, *waiting, *job.committed[-2:]], old))
        else:
            restored = [each for promise in job.aborted[-3:] for each in promise.committables] if what % 2 else []
            self.bench.step(f"attempt {old.number} begins again")
            self._late(lambda: old.sink.begin(restored, now_ms=self.bench.now_ms))

    def _late(self, call: Callable[[], object]) -> bool:
        """A call of an attempt that is over; whether it returned."""
        self.bench.hit("zombie")
        try:
            call()
        except (Fenced, Transient) as error:
            self.bench.step(f"    {type(error).__name__}: {error}")
            return False
        return True

    # ---------------------------------------------------------------- whatever else happens
    def close(self, job: Job, how: int, *_: int) -> None:
        """Somebody is closed who is not needed any more, or never was."""
        closed = job.attempt.another_sink()
        self.bench.step(f"another object of attempt {job.attempt.number} is closed")
        closed.close()
        if closed.describe() != self.bench.description:
            raise Violation("E2E-01", "describe() returns something else behind close().")
        if job.dead and how % 2:
            job.dead[-1].close_writers()

    def wait(self, job: Job, passed: int, *_: int) -> None:
        """Time goes by: a moment, or a year where nothing waits for its commit."""
        timeout_ms = self.bench.description.transaction_timeout_ms
        busy = any(each.pending or each.completed or each.unknown for each in self.jobs)
        passed_ms = passed % min(1_000, (timeout_ms or A_YEAR_MS) // 1_000 + 1)
        if not busy and passed % 2:
            passed_ms = max(timeout_ms or 0, A_YEAR_MS)
        self.bench.step(f"{passed_ms} ms go by")
        self.bench.now_ms += passed_ms

    def strike(self, job: Job, point: int, crash: int, what: int) -> None:
        """The process ends in the middle of something, or a step fails."""
        if SinkFlag.FAULT_POINTS not in self.bench.flags:
            return
        verb = ("write", "prepare", "checkpoint", "complete", "restart", "commit")[what % 6]
        self.bench.points.arm(point % 10, crash=crash % 2 == 0)
        self.bench.step(f"{'the end' if crash % 2 == 0 else 'an error'} at step {point % 10}")
        try:
            getattr(self, verb)(job, what, 0, 1)
        except (Crashed, Transient):
            self.bench.points.disarm()
            job.restart()
        finally:
            self.bench.points.disarm()

    def end(self) -> None:
        """What is open is committed, all that was decided is asked once more, all attempts that are over go on, and
        nothing is left."""
        for job in self.jobs:
            job.checkpoint()
        self.check()
        for job in self.jobs:
            if self.bench.two_phase:
                self._ask(job, [*job.aborted[:3], *job.committed, *job.aborted[3:]])
            for old in job.zombies[-3:]:
                for how in range(5):
                    self._goes_on(job, old, how, 1)
                self.check()
        for job in self.jobs:
            job.write(job.parallelism - 1, 1)
            job.prepare()
            job.restart(1)
            self.check()
            self._unfinished(job)
            self._check_order(job)

    def _check_order(self, job: Job) -> None:
        """Rows of a key that one subtask has written; not those that are there twice."""
        if not self.bench.flags >= {SinkFlag.ORDERED} or SinkFlag.UPSERT in self.bench.flags or not job.ordered:
            return
        seen = self.bench.rows()
        times = Counter(seen)
        places = {row: place for place, row in enumerate(seen) if times[row] == 1}
        for rows in job.in_order.values():
            for before, behind in pairwise(row for row in rows if row in places):
                if places[before] > places[behind]:
                    raise self.bench.broken(
                        "order", f"{excerpt(behind.value)} is seen before {excerpt(before.value)}; behind it is right."
                    )
