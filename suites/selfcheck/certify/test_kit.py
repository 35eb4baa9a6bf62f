"""The kit of state backends: right backends pass it, and what it says of others is exact."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.backends.hashmap import HashMapBackend
from holdfast.harness.engine.certification.kit_journal import kit_journal
from holdfast.harness.model.status import Status
from holdfast.harness.spi.kit import KitCheck
from holdfast.harness.spi.state import Flag
from holdfast.reports import exchange
from holdfast.reports.exchange import Shown
from holdfast.suites.certify import state_backend
from holdfast.suites.certify.check import SHOWN, WHOLE, CannotTry, Check, CheckVerdict, Violation, excerpt, unlike
from holdfast.suites.certify.outside.failing import Failing
from holdfast.suites.certify.state_backend import judge
from holdfast.suites.certify.state_backend.bench import Bench
from holdfast.suites.certify.state_backend.live import Live
from holdfast.suites.certify.state_backend.model import Model
from holdfast.suites.certify.state_backend.programs import PROGRAMS, Theme, play

# The certificate of the reference asks it, too.
test_hashmap = pytest.mark.nightly(state_backend.kit("holdfast.fixtures.backends.hashmap:HashMapBackend"))


LONG = Theme(widths=(1, 1, 2, 3), programs=200, steps=80)


class Plain(HashMapBackend):
    """Declares nothing that a backend may leave out."""

    description = replace(HashMapBackend.description, flags=frozenset())

    def table(self, descriptor, reduce=None, convert=None):  # type: ignore[no-untyped-def]
        if descriptor.ttl_ms is not None:
            raise ValueError("no time to live")
        return super().table(descriptor, reduce, convert)


test_plain = state_backend.kit(Plain)


@pytest.mark.parametrize("check", PROGRAMS, ids=lambda check: check.id)
@pytest.mark.parametrize(
    "limits",
    [
        {"max_key_bytes": 8},
        {"max_namespace_bytes": 8},
        {"max_key_bytes": 8, "max_namespace_bytes": 8},
        {"max_value_bytes": 4},
        {"max_value_bytes": 300},
    ],
    ids=str,
)
@pytest.mark.share(4)
def test_what_declares_little_room_passes_drawn_programs(limits: Mapping[str, int], check: Check[Bench]) -> None:
    class Narrow(HashMapBackend):
        description = replace(HashMapBackend.description, **limits)

    verdict = judge(check, Narrow, HashMapBackend)
    assert verdict.status is Status.PASS, verdict.text


TINY = {"max_value_bytes": 8}
SHORT_KEYS = {"max_key_bytes": 3}


@pytest.mark.parametrize(
    ("check", "limits", "needed"),
    [
        ("SBK-02/large-damage", TINY, "max_value_bytes of 64"),
        ("ASY-05/large-cancelled", TINY, "max_value_bytes of 64"),
        ("INC-03/large-errors", TINY, "max_value_bytes of 64"),
        ("ASY-06/freed", TINY, "max_value_bytes of 64"),
        ("ASY-06/freed", SHORT_KEYS, "max_key_bytes of 8"),
        ("ASY-06/versions", SHORT_KEYS, "max_key_bytes of 8"),
        ("SBK-01/lengths", SHORT_KEYS, ""),
        ("SBK-01/timer-lengths", SHORT_KEYS, ""),
    ],
)
def test_what_declares_hardly_any_room_is_filled_with_no_more(
    check: str, limits: Mapping[str, int], needed: str
) -> None:
    class Tiny(HashMapBackend):
        description = replace(HashMapBackend.description, **limits)

    [found] = state_backend.certify(Tiny, checks=[each for each in state_backend.CHECKS if each.id == check])
    right = (Status.NOT_APPLICABLE, f"it needs a {needed}, and ") if needed else (Status.PASS, "")
    assert (found.status, found.reason[: len(right[1])]) == right, found.text


def judged(run: Callable[[Bench], None], **fields: object) -> CheckVerdict:
    return judge(Check("SBK-01/example", "An example.", run, **fields), HashMapBackend, HashMapBackend)  # type: ignore[arg-type]


def test_a_violation_is_a_failure_with_its_steps() -> None:
    def run(bench: Bench) -> None:
        for number in range(20):
            bench.step(f"step {number}")
        raise Violation("SBK-02", "a is b.")

    verdict = judged(run)
    assert (verdict.status, verdict.rule, verdict.reason) == (Status.FAIL, "SBK-02", "a is b.")
    assert verdict.witness[0] == "(8 steps before)"
    assert verdict.witness[-1] == "step 19"
    assert verdict.text.startswith("FAIL SBK-01/example: a is b.\n    (8 steps")


def test_what_a_backend_raises_unasked_is_a_failure() -> None:
    def run(bench: Bench) -> None:
        bench.fresh().table("value").put(0, b"", [(b"k", b"v")], now_ms=0)

    verdict = judged(run)
    assert verdict.status is Status.FAIL
    assert "RuntimeError: key group 0" in verdict.reason


def test_what_the_kit_itself_raises_is_an_error() -> None:
    def run(bench: Bench) -> None:
        bench.subsume()

    assert judged(run).status is Status.ERROR


def test_a_window_that_was_not_hit_is_inconclusive() -> None:
    verdict = judged(lambda bench: None, windows=("snapshot-overlapped-a-write",))
    assert (verdict.status, verdict.reason) == (Status.INCONCLUSIVE, "no run hit snapshot-overlapped-a-write")
    assert judged(lambda bench: bench.hit("w"), windows=("w",)).status is Status.PASS


def test_what_is_not_declared_does_not_apply() -> None:
    def run(bench: Bench) -> None:
        raise CannotTry("it is too large")

    verdict = judged(run, needs=frozenset({Flag.SPILLS}))
    assert (verdict.status, verdict.reason) == (Status.NOT_APPLICABLE, "it does not declare spills")
    assert (judged(run).status, judged(run).reason) == (Status.NOT_APPLICABLE, "it is too large")


def test_a_factory_that_raises_is_refuted() -> None:
    def factory(context: object) -> HashMapBackend:
        raise ArithmeticError("no")

    verdict = judge(state_backend.CHECKS[0], factory, HashMapBackend)
    assert (verdict.status, verdict.rule) == (Status.FAIL, "SBK-09")


def test_a_backend_that_cannot_be_closed_is_refuted() -> None:
    class Stuck(HashMapBackend):
        def close(self) -> None:
            super().close()
            raise OSError("it is in use")

    verdicts = [judge(check, Stuck, HashMapBackend) for check in (state_backend.CHECKS[0], state_backend.CHECKS[-1])]
    assert {verdict.status for verdict in verdicts} == {Status.FAIL}
    assert all("it is in use" in verdict.reason for verdict in verdicts)


def test_a_rule_is_as_good_as_the_worst_of_its_checks() -> None:
    good = KitCheck("SBK-01/a", "A.", "SBK-01", Status.PASS)
    open_one = KitCheck("SBK-01/b", "B.", "SBK-01", Status.INCONCLUSIVE, "no run hit w")
    absent = KitCheck("SBK-01/c", "C.", "SBK-01", Status.NOT_APPLICABLE, "it does not declare ttl")
    elsewhere = KitCheck("SBK-01/d", "D.", "SBK-02", Status.FAIL, "x is y.")
    assert statuses([absent, good])["SBK-01"] is Status.PASS
    assert statuses([absent])["SBK-01"] is Status.NOT_APPLICABLE
    assert statuses([good, open_one])["SBK-01"] is Status.INCONCLUSIVE
    found = statuses([good, elsewhere])
    assert (found["SBK-01"], found["SBK-02"]) == (Status.INCONCLUSIVE, Status.FAIL)


def test_checks_that_say_the_same_of_one_rule_are_one_finding() -> None:
    checks = [
        KitCheck("SBK-01/a", "A.", "SBK-02", Status.FAIL, "3 threads are left.", ("step",)),
        KitCheck("SBK-03/b", "B.", "SBK-02", Status.FAIL, "12 threads are left."),
        KitCheck("SBK-03/c", "C.", "SBK-03", Status.FAIL, "3 threads are left."),
        KitCheck("SBK-04/d", "D.", "SBK-02", Status.FAIL, "x is y."),
        KitCheck("SBK-05/e", "E.", "SBK-02", Status.INCONCLUSIVE, "3 threads are left."),
    ]
    journal = kit_journal(checks, command="", factory="a:B", subject="SB", started="2026-01-01", duration_s=0.0)
    assert [each.cases for each in journal.findings] == [
        ("SBK-01/a on sim", "SBK-03/b on sim"), ("SBK-03/c on sim",), ("SBK-04/d on sim",), ("SBK-05/e on sim",)
    ]  # fmt: skip
    first = journal.findings[0]
    assert (first.rules, first.when) == (("SBK-02",), "check SBK-01/a, behind the steps below, and 1 more check")
    shown = {test.id: test for test in exchange.tests(journal)}
    assert shown["SBK-01/a on sim"].outcome is Shown.FAILED
    assert shown["SBK-03/b on sim"].message == "fail: same cause as SBK-01/a on sim"


def statuses(checks: Sequence[KitCheck]) -> dict[str, Status]:
    """By rule, what the journal of these checks states."""
    journal = kit_journal(checks, command="", factory="a:B", subject="SB", started="2026-01-01", duration_s=0.0)
    return {each.rule.id: each.status for each in journal.rules}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("no.such.module:Backend", "cannot be loaded"),
        ("holdfast.fixtures.backends.hashmap:Missing", "cannot be loaded"),
        ("nothing", "unknown state backend 'nothing'; known: hashmap"),
        ("hashmap+nothing", "unknown state backend wrapper 'nothing'"),
        ("holdfast.fixtures.backends.hashmap:FLAGS", "is a frozenset"),
    ],
)
def test_a_name_that_leads_nowhere_is_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as raised:
        state_backend.certify(name)
    assert "\n" not in str(raised.value)


def test_values_are_migrated_where_that_is_declared() -> None:
    [check] = [check for check in PROGRAMS if check.rule == "SBK-04"]
    assert judge(check, HashMapBackend, HashMapBackend).status is Status.PASS
    assert judge(check, Plain, HashMapBackend).status is Status.NOT_APPLICABLE


def test_a_seed_decides_which_programs_are_drawn() -> None:
    def steps_with(seed: int) -> list[str]:
        bench = Bench(HashMapBackend, HashMapBackend, seed=seed)
        play(bench, Theme(programs=1))
        bench.close()
        return bench.steps

    assert steps_with(1) == steps_with(1) != steps_with(2)


@pytest.mark.nightly
def test_long_programs() -> None:
    play(Bench(HashMapBackend, HashMapBackend), LONG)


PAIRS = [(b"key-%03d" % number, b"value-%03d" % number) for number in range(100)]


def test_what_is_short_is_shown_whole() -> None:
    assert excerpt("x" * WHOLE) == "x" * WHOLE
    assert unlike([1], [2]) == ("[1]", "[2]")


def test_of_what_is_long_the_beginning_is_shown() -> None:
    assert excerpt("x" * 500) == f"{'x' * SHOWN}... (500 characters)"


@pytest.mark.parametrize("place", [0, 1, 50, 98, 99])
def test_the_first_difference_is_seen_in_both(place: int) -> None:
    wrong = [*PAIRS[:place], (PAIRS[place][0], b"wrong"), *PAIRS[place + 1 :]]
    found, wanted = unlike(wrong, PAIRS)
    assert "wrong" in found
    assert f"value-{place:03d}" in wanted
    assert f"key-{place:03d}" in found
    assert f"key-{place:03d}" in wanted


def test_one_that_ends_too_early_shows_its_end_and_what_is_missing() -> None:
    found, wanted = unlike(PAIRS[:60], PAIRS)
    assert found.partition(" (from")[0].endswith("b'value-059')]")
    assert "key-060" in wanted


def test_one_long_value_shows_the_bytes_that_differ() -> None:
    found, wanted = unlike(b"a" * 5_000 + b"X" + b"a" * 5_000, b"a" * 10_001)
    assert "aXa" in found
    assert "X" not in wanted
    assert max(len(found), len(wanted)) < SHOWN + 60


def test_what_reads_alike_is_shown_from_its_beginning() -> None:
    class Odd(str):
        def __eq__(self, other: object) -> bool:
            return False

        __hash__ = str.__hash__

    found, wanted = unlike(Odd("x" * 500), "x" * 500)
    assert found == wanted
    assert found.startswith("'xxx")


def test_a_finding_of_a_backend_names_the_difference_and_not_only_what_is_equal() -> None:
    nobody: Any = SimpleNamespace(rule="SBK-01")
    live = Live(nobody, "life0", nobody, range(1), Model())
    with pytest.raises(Violation, match=r"b'key-070', b'lost'.*; \.\.\..*b'key-070', b'value-070'.* is right\."):
        live.same("get of s", [*PAIRS[:70], (b"key-070", b"lost"), *PAIRS[71:]], PAIRS)


def test_what_a_database_has_not_committed_has_not_left(tmp_path: Path) -> None:
    found = []
    with closing(sqlite3.connect(tmp_path / "rows.db", isolation_level=None)) as connection:
        connection.execute("create table rows (number integer)")
        for number in range(20):
            failing = Failing(number)
            try:
                with failing.during():
                    connection.execute("begin immediate")
                    connection.execute("insert into rows values (1)")
                    connection.execute("commit")
            except OSError:
                found.append((failing.where, connection.in_transaction))
            else:
                break
            if connection.in_transaction:
                connection.execute("rollback")
        assert connection.execute("select count(*) from rows").fetchone() == (2,)
    assert found == [
        ("before execute", False),
        ("before execute", True),
        ("before execute", True),
        ("behind execute", False),
    ]
