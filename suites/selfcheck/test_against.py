"""Two trees are compared by what their blocks say; growth is seen in samples, and neighbours are not growth."""

from __future__ import annotations

import signal
import subprocess
from math import sin
from pathlib import Path

import msgspec
import pytest
from typer import Typer
from typer.testing import CliRunner, Result

from holdfast.suites.bench import simulator
from holdfast.suites.bench.against import BLOCK, CannotCompare, Comparison, block, checkout, compared, working_tree
from holdfast.suites.bench.behaviour import Stored, stored
from holdfast.suites.bench.block import Behaviour
from holdfast.suites.bench.endurance import BOUNDS, growth_percent
from holdfast.suites.selfcheck.started import Started

SCRIPT = """
import json, sys
from importlib.metadata import entry_points
from holdfast.marker import SECONDS, TRACES
for line in sys.stdin:
    seed = json.loads(line)["draw_seed"]
    [system] = entry_points(group="holdfast.systems")
    trace = TRACES.get(seed, "")
    led = dict(outcome="pass", reason="", findings=[system.name], verdicts="", output="", events="", trace=trace)
    ran = dict(behaviour=led, problem="", processor_s=SECONDS, events=10, calls=7 * (sys.argv[1:] == ["--calls"]))
    if trace == "cannot":
        ran |= dict(behaviour=None, problem="cannot")
    print(json.dumps(ran))
"""
MARKER = "marker.py"
PROJECT = """
[project]
name = "holdfast-chaos"
[project.entry-points."holdfast.systems"]
{system} = "holdfast.marker:SECONDS"
"""
NOTHING = Behaviour("pass", "", (), "", "", "", "")


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    return subprocess.check_output(["git", "-C", str(root), *who, *arguments], text=True)


def write(root: Path, seconds: float, traces: dict[int, str] | None = None, system: str = "reference") -> None:
    """Sources whose runs take this long and have these traces by seed."""
    (root / MARKER).write_text(f"SECONDS, TRACES = {seconds}, {traces or {}}")
    (root / "pyproject.toml").write_text(PROJECT.format(system=system))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository: a commit without the script that runs blocks, tagged `early`, and one with it."""
    root = tmp_path / "sources"
    root.mkdir()
    git(root, "init", "--quiet")
    write(root, 4.0)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Early")
    git(root, "tag", "early")
    write(root, 2.0)
    (root / BLOCK).parent.mkdir(parents=True)
    (root / BLOCK).write_text(SCRIPT)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Later")
    return root


def plans(*seeds: int) -> list[Stored]:
    return [Stored("swarm", msgspec.Raw(msgspec.json.encode({"draw_seed": seed})), NOTHING) for seed in seeds]


@pytest.mark.parametrize(("commit", "ratio"), [("HEAD", 2.0), ("early", 4.0)])
def test_each_tree_runs_its_own_sources(root: Path, commit: str, ratio: float) -> None:
    write(root, 1.0)
    found = compared(root, commit, plans(1, 2), blocks=2)
    [mix] = found.mixes
    assert (mix.mix, mix.plans) == ("swarm", 2)
    assert (mix.ratio, mix.quartiles, mix.plan_ratio) == (ratio, (ratio, ratio), ratio)
    assert mix.working_tree.runs_per_s == ratio * mix.commit.runs_per_s == 1.0
    assert mix.working_tree.microseconds_per_event == 1e5
    assert mix.working_tree.calls == 7
    assert not any(found.differing.values())


def test_a_wheel_is_compared_with_the_commit_of_the_sources_around_it(root: Path) -> None:
    wheel = root / "build" / "wheel" / "holdfast"
    (wheel / BLOCK).parent.mkdir(parents=True)
    (wheel / BLOCK).write_text(SCRIPT)
    write(wheel, 0.5)
    (wheel / "pyproject.toml").unlink()
    declared = wheel.parent / "holdfast_chaos-1.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: holdfast-chaos\nVersion: 1\n")
    (declared / "entry_points.txt").write_text("[holdfast.systems]\nreference = holdfast.marker:SECONDS\n")
    found = compared(wheel, "HEAD", plans(1, 2), blocks=1)
    assert [mix.ratio for mix in found.mixes] == [4.0]
    assert not any(found.differing.values())


def test_a_plan_that_leads_elsewhere_is_told_and_counts_only_where_it_may(root: Path) -> None:
    write(root, 1.0, traces={2: "other"})
    found = compared(root, "HEAD", plans(1, 2), blocks=1)
    assert found.differing["trace"] == ["swarm 2"]
    assert [mix.plans for mix in found.mixes] == [1]
    assert [mix.plans for mix in compared(root, "HEAD", plans(1, 2), blocks=1, may=["trace"]).mixes] == [2]


def test_a_plan_that_one_tree_cannot_run_counts_not_at_all(root: Path) -> None:
    write(root, 1.0, traces={1: "cannot"})
    found = compared(root, "HEAD", plans(1, 2), blocks=1)
    assert found.problems == {"swarm 1": "cannot"}
    assert [mix.plans for mix in found.mixes] == [1]


def test_each_tree_has_the_entry_points_that_it_declares(root: Path) -> None:
    write(root, 1.0, system="another")
    assert compared(root, "HEAD", plans(1), blocks=1).differing["findings"] == ["swarm 1"]


def test_what_is_no_commit_is_refused(root: Path) -> None:
    with pytest.raises(CannotCompare, match="'nothing' is no commit of"):
        compared(root, "nothing", plans(1), blocks=1)


def test_sources_that_do_not_run_are_told(root: Path) -> None:
    (root / MARKER).write_text("")
    with pytest.raises(CannotCompare, match="working tree cannot run the stored plans"):
        compared(root, "HEAD", plans(1), blocks=1)
    assert len(git(root, "worktree", "list").splitlines()) == 1


@pytest.mark.parametrize("heard", [signal.SIGINT, signal.SIGTERM])
def test_a_checkout_is_gone_after_a_signal(root: Path, heard: signal.Signals) -> None:
    program = (
        "import select, sys; from pathlib import Path; from holdfast.suites.bench.against import checkout\n"
        f"with checkout(Path({str(root)!r}), 'HEAD') as tree:\n"
        "    print(tree.place, flush=True)\n"
        # A signal that comes just before a read without a limit is heard when that is over.
        "    while not select.select([sys.stdin], [], [], 0.1)[0]: pass"
    )
    with Started.python(program, stderr=subprocess.DEVNULL) as process:
        place = Path(process.read_line())
        assert (place / "holdfast" / MARKER).exists()
        assert len(git(root, "worktree", "list").splitlines()) == 2
        process.send_signal(heard)
        assert process.wait(timeout=60) not in (0, None)
    assert not place.exists()
    assert len(git(root, "worktree", "list").splitlines()) == 1


def test_a_checkout_is_gone_after_an_error(root: Path) -> None:
    with pytest.raises(ZeroDivisionError), checkout(root, "HEAD"):
        raise ZeroDivisionError
    assert len(git(root, "worktree", "list").splitlines()) == 1


def test_a_block_says_what_stored_plans_lead_to_and_what_cannot_be_run() -> None:
    if not (simulator.ROOT / "pyproject.toml").exists():
        pytest.skip("no checkout")
    [plan, *_] = stored()
    lines = [bytes(plan.plan), bytes(plan.plan).replace(b'"system":"reference"', b'"system":"nobody"')]
    with working_tree(simulator.ROOT) as tree:
        timed, broken = block(tree, lines, 0)
        counted, _ = block(tree, lines, 0, "--calls")
    assert timed.behaviour == counted.behaviour == plan.behaviour
    assert timed.processor_s > 0
    assert timed.events > 100
    assert (timed.calls, counted.calls > 10 * counted.events) == (0, True)
    assert broken.behaviour is None
    assert "nobody" in broken.problem


def answer(*arguments: str) -> Result:
    """What the command line says."""
    app = Typer()
    app.command()(simulator.main)
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "NO_COLOR": "1"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--blocks", "3"), "--blocks goes only with --against"),
        (("--against", "HEAD", "--system", "reference"), "--system goes only without --against"),
        (("--mix", "c"), "there is no mix 'c': choose of swarm, a, b"),
        (("--against", "HEAD", "--may", "time"), "there is no field 'time': choose of outcome, reason, "),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments: tuple[str, ...], message: str) -> None:
    refused = answer(*arguments)
    assert refused.exit_code == 2
    assert message in refused.output


def test_the_command_line_shows_the_ratio_and_what_differs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulator, "ROOT", root)
    monkeypatch.setattr(simulator, "stored", lambda: plans(1, 2))
    write(root, 1.0, traces={2: "other"})
    shown = answer("--against", "HEAD", "--blocks", "1")
    assert shown.exit_code == 1
    assert "| (swarm) 1 plans       | 2.000 (2.000 to 2.000) |    2.000 |" in shown.output
    assert "1.0 / 0.5 |" in shown.output
    assert "trace: 1 plans differ, such as swarm 2\n" in shown.output
    allowed = answer("--against", "HEAD", "--blocks", "1", "--may", "trace", "--json")
    assert allowed.exit_code == 0
    found = msgspec.json.decode(allowed.stdout, type=Comparison)
    assert [(mix.plans, mix.ratio) for mix in found.mixes] == [(2, 2.0)]
    assert answer("--against", "nothing").exit_code == 3


STEADY = [200 + 5 * sin(number) for number in range(100)]


@pytest.mark.parametrize(
    ("series", "checkpoints", "growth"),
    [
        (STEADY, 10_000, 0.0),
        ([value + number for number, value in enumerate(STEADY)], 10_000, 39.1),
        ([value + number for number, value in enumerate(STEADY)], 5_000, 78.3),
        ([value - number for number, value in enumerate(STEADY)], 10_000, -68.9),
        ([1_000.0 * (number < 10) + value for number, value in enumerate(STEADY)], 10_000, 0.0),
        ([value * (3 if number % 10 == 0 else 1) for number, value in enumerate(STEADY)], 10_000, 0.0),
    ],
)
def test_growth_is_that_of_most_samples(series: list[float], checkpoints: int, growth: float) -> None:
    assert growth_percent(series, checkpoints) == pytest.approx(growth, abs=0.5)


def test_a_file_left_by_each_hundredth_checkpoint_is_beyond_the_bound() -> None:
    files = [20.0 + number for number in range(100)]
    assert growth_percent(files, 10_000) > BOUNDS["files"]
