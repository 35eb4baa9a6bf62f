"""What a certification says of its processor time and memory covers the processes that it started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.harness.engine.site import usage
from holdfast.harness.engine.site.usage import UsageMeter
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.started import Started

GREEDY = """
import sys
from pathlib import Path

import pytest
held = bytearray(200 << 20)
held[::4096] = b"x" * len(held[::4096])
total = sum(range(3_000_000))
print("ready", flush=True)
sys.stdin.read()
"""

STARTS_ANOTHER = r"""
import subprocess, sys
burns = "import sys, time\nwhile time.process_time() < 0.5: pass\nsys.stdin.read()"
subprocess.run([sys.executable, "-c", burns])
"""


def test_the_memory_and_the_processor_time_of_a_child_count() -> None:
    with Started.python(GREEDY) as child:
        assert child.read_line() == "ready"
        with UsageMeter() as beside:
            pass  # One look at least.
        child.communicate()
    with UsageMeter() as without:
        pass
    assert beside.usage.peak_memory_mb - without.usage.peak_memory_mb > 150
    assert beside.usage.processor_s > without.usage.processor_s
    assert without.usage.peak_memory_mb > 5


def test_the_processor_time_of_what_nobody_waits_for_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "EVERY_S", 0.05)
    own_s = sum(os.times()[:2])

    def of_others_s() -> float:
        return meter.usage.processor_s - (sum(os.times()[:2]) - own_s)

    with UsageMeter() as meter, Started.python(STARTS_ANOTHER):
        assert becomes(lambda: of_others_s() > 0.4, 60)
    assert of_others_s() > 0.4


def test_where_linux_does_not_say_it_no_memory_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_PROC", tmp_path)
    with UsageMeter() as meter:
        pass
    assert meter.usage.peak_memory_mb == 0.0
