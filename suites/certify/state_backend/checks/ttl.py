"""SBK-02: a restore does not renew what has a time to live, registered or not."""

from __future__ import annotations

from holdfast.harness.spi.state import Flag
from holdfast.suites.certify.check import Check
from holdfast.suites.certify.state_backend.bench import GROUPS, Bench
from holdfast.suites.certify.state_backend.live import TTL_MS

GROUP = GROUPS.start
TTL = frozenset({Flag.TTL})


def over_a_restore(bench: Bench) -> None:
    """Also of a value that is put again as it was: nothing but its time is new."""
    live = bench.fresh()
    live.put("mortal", GROUP, b"", [(b"a", b"1"), (b"gone", b"1"), (b"same", b"1")])
    bench.checkpoint(live)
    bench.now_ms += TTL_MS // 2
    live.put("mortal", GROUP, b"", [(b"b", b"2"), (b"same", b"1")])
    taken = live.snapshot()
    bench.now_ms += TTL_MS // 4
    live.put("mortal", GROUP, b"", [(b"a", b"written later")])
    completed = bench.complete(live, taken, bench.upload(taken))
    restored = bench.restored(completed)
    restored.compare()
    bench.now_ms += TTL_MS // 4
    bench.hit("expired")
    restored.compare()
    bench.now_ms += TTL_MS // 2
    restored.compare()


def unregistered(bench: Bench) -> None:
    """Over two lives in which nothing, or everything else, is registered."""
    others = [each for each in bench.states if each.ttl_ms is None]
    for registered in ((), others):
        live = bench.fresh()
        live.put("mortal", GROUP, b"", [(b"a", b"1"), (b"b", b"1")])
        completed = bench.checkpoint(live)
        for _ in range(2):
            bench.now_ms += TTL_MS // 4
            completed = bench.checkpoint(bench.restored(completed, register=registered))
        restored = bench.restored(completed)
        restored.compare()
        bench.now_ms += TTL_MS // 2
        bench.hit("expired")
        restored.compare()


CHECKS = (
    Check("SBK-02/unregistered-expiry", "Nor does one by which nobody has registered it.", unregistered, TTL,
          ("expired",)),
    Check("SBK-02/expiry", "A restore keeps the time that is left.", over_a_restore, TTL, ("expired",)),
)  # fmt: skip
