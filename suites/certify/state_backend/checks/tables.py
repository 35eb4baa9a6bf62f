"""SBK-01: tables match the model."""

from __future__ import annotations

from holdfast.harness.spi.state import Flag, StateDescriptor, StateKind
from holdfast.suites.certify.check import Check, Violation
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.checks.filling import change_everything, fill
from holdfast.suites.certify.state_backend.model import element

GROUP = GROUPS.start


def values(bench: Bench) -> None:
    live = bench.fresh()
    live.get("value", GROUP, b"", [b"k"])
    live.put("value", GROUP, b"", [(b"k", b""), (b"", b"empty key"), (b"k\x00", b"\x00")])
    live.get("value", GROUP, b"", [b"k", b"missing", b"", b"k\x00", b"k"])
    live.put("value", GROUP, b"", [(b"k", b"first"), (b"k", b"last")])
    live.put("value", GROUP, b"", [])
    live.remove("value", GROUP, b"", [b"missing", b"", b""])
    live.get("value", GROUP, b"", [b"k", b""])
    live.compare()


def namespaces(bench: Bench) -> None:
    live = bench.fresh()
    for namespace in (b"a", b"", b"ab", b"b"):
        live.put("value", GROUP, namespace, [(b"k", namespace), (b"bk", b"1")])
        live.put("map", GROUP, namespace, [(b"k", b"of map")])
    live.put("value", GROUP + 1, b"a", [(b"k", b"of another group")])
    live.compare()
    live.clear("value", GROUP, b"a")
    live.clear("value", GROUP, b"never there")
    live.compare()
    live.remove("value", GROUP, b"ab", [b"k", b"bk"])
    live.compare()


def scans(bench: Bench) -> None:
    live = bench.fresh()
    keys = [b"\xff", b"", b"a", b"ab", b"a\x00", b"b", b"\x00", b"B"]
    live.put("map", GROUP, b"n", [(key, b"v" + key) for key in keys])
    for start, end in ((b"", None), (b"a", b"b"), (b"a", b"ab"), (b"b", b"a"), (b"ab", None), (b"zz", b"")):
        live.scan("map", GROUP, b"n", start, end).finish()
    live.scan("map", GROUP, b"other").finish()


def scans_as_of_their_call(bench: Bench) -> None:
    live = bench.fresh()
    live.put("map", GROUP, b"", [(b"%02d" % number, b"old") for number in range(0, 20, 2)])
    ours = [live.scan("map", GROUP, b""), live.scan("map", GROUP, b"", b"04", b"16")]
    for each in ours:
        each.take(2)
    live.put("map", GROUP, b"", [(b"%02d" % number, b"new") for number in range(0, 20, 3)])
    live.remove("map", GROUP, b"", [b"08", b"10"])
    live.snapshot()
    for each in ours:
        each.take(2)
    live.clear("map", GROUP, b"")
    bench.hit("scan-overlapped-writes")
    for each in ours:
        each.finish()
    live.compare()


def merges(bench: Bench) -> None:
    live = bench.fresh()
    live.merge("list", GROUP, b"", [(b"k", element(b"1")), (b"l", element(b"")), (b"k", element(b"2"))])
    live.merge("list", GROUP, b"", [(b"k", element(b"3"))])
    live.merge("list", GROUP, b"n", [(b"k", element(b"elsewhere"))])
    live.get("list", GROUP, b"", [b"k", b"l", b"missing"])
    live.remove("list", GROUP, b"", [b"k"])
    live.merge("list", GROUP, b"", [(b"k", element(b"anew"))])
    for value in (b"ab", b"c", b"", b"xyz"):
        live.merge("reducing", GROUP, b"", [(b"k", value), (b"k", value)])
        live.merge("aggregating", GROUP, b"", [(b"k", value)])
    live.put("list", GROUP, b"", [(b"k", element(b"set"))])
    live.merge("list", GROUP, b"", [(b"k", element(b"behind"))])
    live.compare()


def failing_functions(bench: Bench) -> None:
    live = bench.fresh()
    descriptor = StateDescriptor(name="failing", kind=StateKind.REDUCING)

    def reduce(old: bytes, new: bytes) -> bytes:
        if new == b"bad":
            raise ArithmeticError("bad")
        return old + new

    table = live.backend.table(descriptor, reduce)
    table.merge(GROUP, b"", [(b"k", b"1")], now_ms=bench.now_ms)
    bench.step("merge a batch of which the function refuses the second value")
    try:
        table.merge(GROUP, b"", [(b"k", b"2"), (b"new", b"x"), (b"k", b"bad")], now_ms=bench.now_ms)
    except ArithmeticError:
        found = list(table.get(GROUP, b"", [b"k", b"new"], now_ms=bench.now_ms))
        live.same("state behind a merge whose function raised", found, [b"1", None])
    else:
        raise Violation("SBK-01", "merge swallowed what its function raised.")


def everything(bench: Bench) -> None:
    live = bench.fresh()
    fill(live)
    live.compare()
    change_everything(live)
    live.compare()


CHECKS = (
    Check("SBK-01/values", "Values that are empty, missing, removed, or set twice in a batch.", values),
    Check("SBK-01/namespaces", "Namespaces, states and key groups never mix.", namespaces),
    Check("SBK-01/scans", "A scan has its bounds, in ascending order of bytes.", scans),
    Check(
        "SBK-01/open-scans",
        "A scan shows the state as of its call, whatever is written meanwhile.",
        scans_as_of_their_call,
        windows=("scan-overlapped-writes",),
    ),
    Check("SBK-01/merges", "Lists append; reducing and aggregating fold in order.", merges, frozenset({Flag.MERGE})),
    Check(
        "SBK-01/failing-functions",
        "A merge whose function raises changes nothing.",
        failing_functions,
        frozenset({Flag.MERGE}),
    ),
    Check("SBK-01/everything", "All kinds at once, written, changed, removed and cleared.", everything),
)
