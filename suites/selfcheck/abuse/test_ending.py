"""How long a certification goes on after a signal: what is only nice is left out, and nothing is waited for long."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import pytest
from jinja2 import Environment

from holdfast.harness import cli
from holdfast.harness.commands.progress import CaseProgress
from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.engine.artefacts.stored_run import part_folders
from holdfast.harness.engine.cases.case_run import CaseRun, run_once
from holdfast.harness.engine.certification import journal as journal_module
from holdfast.harness.engine.certification import run_store
from holdfast.harness.engine.certification.certify import Certification
from holdfast.harness.engine.certification.request import Request
from holdfast.harness.engine.certification.run_store import RunStore
from holdfast.harness.engine.certification.worker_pool import END_LIMIT_S
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import ONE_PRESS_S, Interruption
from holdfast.harness.engine.site.machine import stalled_ms
from holdfast.harness.model.case import Tier
from holdfast.harness.model.journal import Title
from holdfast.reports import html
from holdfast.suites.selfcheck.abuse import ending_late
from holdfast.suites.selfcheck.abuse.conftest import Invoke
from holdfast.suites.selfcheck.engine.scripted import Silent

AFTER_ONE_S, AFTER_TWO_S = 10.0, 3.0
"""On a machine that does nothing else; later where somebody waited meanwhile, up to half of what is waited in vain."""
NARROWED = ("--tier", "sim", "--rule", "RST-01", "--jobs", "2")


@pytest.mark.parametrize(
    ("system", "presses"),
    [
        ("Deaf", 2),
        ("Lingering", 1),
        pytest.param("Deaf", 1, marks=pytest.mark.nightly),
        pytest.param("Lingering", 2, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.share(2)
def test_workers_that_do_not_end_keep_no_report_from_being_written(
    invoke: Invoke, tmp_path: Path, system: str, presses: int
) -> None:
    """Where a worker did not end, it was waited for half a minute."""
    out = tmp_path / "out"
    certifying = invoke("certify", f"{ending_late.HERE}:{system}", *NARROWED, "--out", out)
    certifying.wait_until(
        lambda: any(deaf(each.pid) or (system == "Lingering" and ran(out)) for each in certifying.living())
    )
    certifying.send(signal.SIGTERM)
    began_s = time.monotonic()
    if presses == 2:
        certifying.wait_until(lambda: time.monotonic() - began_s > 2 * ONE_PRESS_S)
        certifying.send(signal.SIGTERM)
        began_s = time.monotonic()
    stalled = stalled_ms()
    assert certifying.exit_code() == 143, certifying.said()
    took_s, waited_s = time.monotonic() - began_s, (stalled_ms() - stalled) / 1_000
    assert took_s < min((AFTER_ONE_S, AFTER_TWO_S)[presses - 1] + waited_s, END_LIMIT_S / 2)
    assert certifying.left() == []
    assert not part_folders(out)
    assert (out / "latest" / "report.html").stat().st_size
    journal = read_journal(out / "latest" / "results.json")
    assert (journal.interrupted, journal.certificate.title) == ("SIGTERM", Title.INCONCLUSIVE)


def deaf(pid: int) -> bool:
    """Whether a process has blocked its signals for good."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    blocked = next(line for line in status.splitlines() if line.startswith("SigBlk:"))
    mask = int(blocked.split()[1], 16)
    return bool(mask >> (signal.SIGQUIT - 1) & 1) and not mask >> (ending_late.STILL_HEARD - 1) & 1


def ran(out: Path) -> bool:
    """Whether a run is stored."""
    return any(out.glob("*/runs/*-sim-0000"))


def nice(*_: object) -> NoReturn:
    raise AssertionError("nobody waits for that")


def test_what_is_only_nice_is_left_out_after_a_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places in the sources, pictures and smaller plans took most of the time."""
    interruption = Interruption()

    class Pressing(Silent):
        def ran(self, result: Any, kept: Any) -> None:
            interruption.hear(signal.SIGTERM, None)

    monkeypatch.setattr(journal_module, "places_of", nice)
    monkeypatch.setattr(RunStore, "shrink", nice)
    request = Request(
        command="test",
        system="reference+D1",
        folder=tmp_path,
        rules=frozenset({"BAR-01"}),
        tiers=frozenset({Tier.SIM}),
    )
    journal = Certification(request, Pressing(), interruption).run()
    assert not interruption.broken
    assert journal.interrupted == "SIGTERM"
    assert journal.runs


def test_what_reports_are_made_with_is_loaded_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the time of the report went into templates."""
    html._environment.cache_clear()
    before = CaseProgress.ran

    def ran(self: CaseProgress, result: Any, kept: Any) -> None:
        before(self, result, kept)
        monkeypatch.setattr(Environment, "compile", nice)

    monkeypatch.setattr(CaseProgress, "ran", ran)
    code = cli.execute(["certify", "reference", *NARROWED[:-1], "1", "--out", str(tmp_path)])
    assert code == 0
    assert (tmp_path / "latest" / "report.html").stat().st_size


def test_a_run_that_is_stored_after_a_signal_has_no_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_store, "pictures_of", nice)
    tools = registry.toolbox()
    case = next(each for each in registry.cases() if each.pictures and Tier.SIM in each.tiers)
    case_run = CaseRun(case, registry.system("reference"), Tier.SIM, tools, 1)
    finished = run_once(case_run, 0)
    interrupted = msgspec.structs.replace(case_run, interrupted=lambda: "interrupted by SIGTERM")
    kept = RunStore(tmp_path, tools.faults).keep(finished, interrupted)
    assert kept is not None
    assert kept.artefacts
    assert not kept.details
