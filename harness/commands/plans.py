"""`holdfast run`, `replay`, `rerun` and `judge`: one plan, or one stored run, once more."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import msgspec

from holdfast.harness.commands import console as consoles
from holdfast.harness.commands.apart import runs_apart
from holdfast.harness.commands.own_process import run_ended
from holdfast.harness.engine.artefacts.json_files import read_plan_file
from holdfast.harness.engine.artefacts.remote_run import is_remote, read_remote_run
from holdfast.harness.engine.artefacts.stored_run import read_run
from holdfast.harness.engine.cases.case_run import run_and_store
from holdfast.harness.engine.certification.run_store import replay_command
from holdfast.harness.engine.errors import HARNESS_ERROR, UsageError
from holdfast.harness.engine.executor.judge import is_observable, judge, on_its_word, outcome_of
from holdfast.harness.engine.executor.run import Run, run_plan
from holdfast.harness.engine.exploration.shrink import needed_faults
from holdfast.harness.engine.plans.validate import check_options, check_plan
from holdfast.harness.engine.plans.words import plan_in_words
from holdfast.harness.engine.site import registry
from holdfast.harness.engine.site.interruption import Interruption, listening
from holdfast.harness.engine.site.machine import lacking
from holdfast.harness.engine.site.plan_code import code_named_by, require_trusted_code, third_party_code
from holdfast.harness.engine.site.services import chosen_site, require_reachable
from holdfast.harness.engine.views.finding import finding_of
from holdfast.harness.model.case import Tier
from holdfast.harness.model.command_line import command_line
from holdfast.harness.model.plan import Plan
from holdfast.harness.model.sentence import plural
from holdfast.harness.model.verdict import Outcome, Verdict
from holdfast.harness.spi.oracle import titles_of


def run_file(
    path: Path, system: str, tier: Tier | None, folder: Path, *, trust: bool, limit_s: float | None = None
) -> int:
    """Execute a plan from a file and keep the run. A system that is named on the command line is the user's word; the
    file may be somebody else's.

    Args:
        path: of the plan.
        system: in place of that of the plan; empty: that.
        tier: where; None: the first that can run.
        folder: of the run.
        trust: the user allows whatever the plan names.
        limit_s: how long the run may take if it runs what does not ship with Holdfast.
    """
    plan = read_plan_file(path)
    if system:
        plan = msgspec.structs.replace(plan, system=system)
    if (code := runs_apart(third_party_code(plan.system, plan), folder.parent, limit_s)) is not None:
        return code
    if not system:
        registry.planned_system(plan.system, path, trust=trust)
    require_trusted_code(plan, path, trust=trust)
    consoles.offer_sweep(consoles.progress(), folder.parent)
    require_reachable()
    with listening() as interruption:
        run, stored = _executed(plan, tier, folder, interruption)
    console = consoles.results()
    console.print(plan_in_words(plan))
    _say(run)
    again = replay_command(stored, run.tier, plan.system, trust=bool(code_named_by(plan)))
    console.print(f"stored in {stored}; again: {again}")
    return interruption.exit_code if interruption.signal else consoles.EXIT_CODES[run.outcome]


def replay(folder: Path, *, trust: bool, limit_s: float | None = None) -> int:
    """Repeat a simulated run and compare it, event for event, by its trace hash; arguments as of `run_file`."""
    history, stored = read_run(folder)
    if (code := runs_apart(third_party_code(history.plan.system, history.plan), folder, limit_s)) is not None:
        return code
    if stored.tier is not Tier.SIM:
        raise UsageError(
            f"{folder}: a run on tier {stored.tier} cannot be replayed exactly; use {command_line('rerun', folder)}."
        )
    plan = history.plan
    system, tools = registry.stored_system(plan.system, folder, trust=trust, repeats=True), registry.toolbox()
    require_trusted_code(plan, folder, trust=trust)
    check_plan(plan, system, Tier.SIM, tools)
    run = run_plan(plan, system, tools)
    console = consoles.results()
    console.print(plan_in_words(plan))
    _say(run)
    if run.trace_hash != stored.trace_hash:
        console.print(
            f"another trace: {run.trace_hash}, stored was {stored.trace_hash}; the code changed or is not deterministic"
        )
        return HARNESS_ERROR
    console.print(f"same trace: {run.trace_hash}, {plural(run.dispatched, 'event')} dispatched")
    return consoles.EXIT_CODES[run.outcome]


def rerun(folder: Path, times: int, target: Path, *, trust: bool, limit_s: float | None = None) -> int:
    """Repeat plan and gates of a stored run on its tier, and count how often what it showed is shown again.

    Args:
        folder: of the stored run.
        times: how often.
        target: below which the new runs go.
        trust, limit_s: as of `run_file`.
    """
    history, stored = read_run(folder)
    if (code := runs_apart(third_party_code(history.plan.system, history.plan), target.parent, limit_s)) is not None:
        return code
    evidence = registry.stored_system(history.plan.system, folder, trust=trust, repeats=True).evidence()
    require_trusted_code(history.plan, folder, trust=trust)
    words = on_its_word(registry.toolbox().oracles, evidence)
    wanted = _shown(stored.verdicts)
    console, progress = consoles.results(), consoles.progress()
    again = 0
    outcomes: list[Outcome] = []
    with listening() as interruption:
        for number in range(times):
            run, place = _executed(history.plan, stored.tier, target / f"rerun-{number:04d}", interruption)
            run_ended()
            if interruption.signal:
                progress.print(f"{number + 1} of {times}: {run.reason} {place}")
                break
            outcomes.append(run.outcome)
            same = bool(wanted & _shown(run.verdicts)) if wanted else run.outcome is stored.outcome
            again += same
            progress.print(f"{number + 1} of {times}: {run.outcome.value} {run.reason} {place}")
    clauses = sorted(f"{oracle}/{clause}" for oracle, clause in wanted)
    shown = (f"{clause} (on its word)" if clause in words else clause for clause in clauses)
    what = ", ".join(shown) or _outcome_in_words(stored.outcome, stored.verdicts, words)
    console.print(f"{again} of {plural(len(outcomes), 'run')} reproduced {what}")
    if interruption.signal:
        return interruption.exit_code
    return 1 if Outcome.FAIL in outcomes else 2 if Outcome.INCONCLUSIVE in outcomes else 0


def judge_stored(run: str, *, trust: bool, limit_s: float | None = None) -> int:
    """Decide again from the stored history, in a folder or in an object store; arguments as of `run_file`."""
    if chosen_site().spark_master:
        require_reachable()  # Spark itself would only connect when everything was read, and try for a minute.
    history, stored = read_remote_run(run, chosen_site()) if is_remote(run) else read_run(Path(run))
    if (code := runs_apart(third_party_code(history.plan.system), Path(run), limit_s)) is not None:
        return code
    evidence = registry.stored_system(history.plan.system, run, trust=trust).evidence()
    oracles = [oracle for oracle in registry.toolbox().oracles if is_observable(oracle, evidence)]
    with consoles.progress().status(f"judging {sum(len(unit.rows) for unit in history.output.units):,} rows"):
        verdicts = judge(history, oracles, evidence)
    outcome, reason = outcome_of(history, verdicts)
    console = consoles.results()
    console.print(plan_in_words(history.plan))
    consoles.say_outcome(console, outcome, reason)
    finding = finding_of("", history, verdicts, oracles, None)
    if finding is not None:
        consoles.say_finding(console, finding)
    consoles.say_verdicts(console, verdicts, titles_of(oracles), on_its_word(registry.toolbox().oracles, evidence))
    if outcome is not stored.outcome:
        console.print(f"the run itself was judged {stored.outcome.value}: the oracles changed since")
    return consoles.EXIT_CODES[outcome]


def _executed(plan: Plan, tier: Tier | None, folder: Path, interruption: Interruption) -> tuple[Run, Path]:
    """Run a checked plan and store it."""
    system, tools = registry.system(plan.system), registry.toolbox()
    tier = tier or next((each for each in Tier if each in system.capabilities and not lacking(each)), Tier.SIM)
    if reason := lacking(tier):
        raise UsageError(f"tier {tier} {reason}.")
    check_plan(plan, system, tier, tools)
    check_options(plan, system)
    return run_and_store(plan, system, tools, tier, folder, interruption)


def _say(run: Run) -> None:
    """Print the outcome, what broke, and what every oracle found; a run that had a problem has no finding."""
    console = consoles.results()
    consoles.say_outcome(console, run.outcome, run.reason)
    tools = registry.toolbox()
    needed = needed_faults(run, registry.system(run.history.plan.system), tools)
    finding = finding_of("", run.history, run.verdicts, tools.oracles, None, needed)
    if finding is not None:
        consoles.say_finding(console, finding)
    if run.outcome is Outcome.FAIL or not run.history.end.problem:
        consoles.say_verdicts(console, run.verdicts, titles_of(registry.toolbox().oracles), run.on_its_word)


def _outcome_in_words(outcome: Outcome, verdicts: tuple[Verdict, ...], words: Set[str]) -> str:
    """The outcome, with the oracles of which the verdict rests on the word of the system under test alone."""
    believed = ", ".join(verdict.oracle for verdict in verdicts if verdict.rests_on(words))
    return f"{outcome.value} (on its word: {believed})" if believed else outcome.value


def _shown(verdicts: tuple[Verdict, ...]) -> set[tuple[str, str]]:
    return {(verdict.oracle, anomaly.clause) for verdict in verdicts for anomaly in verdict.anomalies}
