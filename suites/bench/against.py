"""Two trees of sources run the same stored plans, in alternating blocks: which is faster, and whether both do the same.

A block is a process of its own that imports one tree, the working tree or a commit, and runs all chosen plans once. Two
blocks, one of each, are a pair; the next pair begins with the other tree. Time is processor time, so that other
work on the machine disturbs little, and mostly both of a pair. A plan that leads elsewhere in one of the two is listed
and counts for no figure (see behaviour.py).

Run on the compiled wheel (see compiled.py), that is compared in place of the working tree.

Compare a commit with itself first: where the ratio is further from 1 than the difference that is looked for, wait for a
quieter hour, or take more blocks.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import msgspec

from holdfast.suites.bench.behaviour import FIELDS, Stored, differences
from holdfast.suites.bench.block import Ran
from holdfast.suites.bench.compiled import on

BLOCK = "suites/bench/block.py"


class CannotCompare(Exception):
    """One sentence that says why, and what to do."""


class Tree(NamedTuple):
    """Sources that can be run.

    Attributes:
        name: as it is shown.
        place: the folder in which they lie as `holdfast`, with the entry points that they declare.
        block: the script that runs plans with them.
    """

    name: str
    place: Path
    block: Path


class Side(msgspec.Struct, frozen=True):
    """What one tree took for the plans of a mix.

    Attributes:
        runs_per_s: for each second of processor time; of all blocks the median.
        microseconds_per_event: of those that are recorded; likewise.
        calls: of Python functions, for each run.
    """

    runs_per_s: float
    microseconds_per_event: float
    calls: float


class MixFigures(msgspec.Struct, frozen=True):
    """How the two trees compare on a mix.

    Attributes:
        mix: its name.
        plans: that count.
        ratio: processor time of the commit by that of the working tree: median of the pairs; above 1 the working tree
            is faster.
        quartiles: of the same.
        plan_ratio: the median of the plans, each by its fastest run on either side: what long runs do not decide.
        working_tree, commit: what each took.
    """

    mix: str
    plans: int
    ratio: float
    quartiles: tuple[float, float]
    plan_ratio: float
    working_tree: Side
    commit: Side


class Comparison(msgspec.Struct, frozen=True):
    """What came out.

    Attributes:
        commit: that the working tree was compared with.
        blocks: of each tree.
        python: the build of the interpreter.
        mixes: the figures of each.
        differing: by field, the plans that lead to something else.
        problems: by plan, why one of the two could not run it.
    """

    commit: str
    blocks: int
    python: str
    mixes: tuple[MixFigures, ...]
    differing: Mapping[str, list[str]]
    problems: Mapping[str, str]


Pair = tuple[list[Ran], list[Ran]]
"""What a block of the working tree and one of the commit gave for the same plans."""


@contextmanager
def working_tree(root: Path) -> Iterator[Tree]:
    """The sources as they stand; or the wheel that this process runs on (see compiled.py)."""
    if not (root / "pyproject.toml").exists():
        yield Tree("compiled wheel", root.parent, root / BLOCK)
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-against-") as folder:
        place = Path(folder)
        (place / "holdfast").symlink_to(root)
        _declare(place)
        yield Tree("working tree", place, root / BLOCK)


@contextmanager
def checkout(root: Path, commit: str) -> Iterator[Tree]:
    """The sources of a commit, in a temporary folder that is gone afterwards, also after an interrupt.

    Raises:
        CannotCompare: there is no such commit.
    """
    try:
        digest = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}").strip()
    except subprocess.CalledProcessError as error:
        raise CannotCompare(f"{commit!r} is no commit of {root}: name one that `git log` shows there.") from error
    with tempfile.TemporaryDirectory(prefix="holdfast-against-") as folder:
        place = Path(folder)
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        try:
            _git(root, "worktree", "add", "--quiet", "--detach", str(place / "holdfast"), digest)
            _declare(place)
            yield Tree(digest[:12], place, _block_of(root, place))
        finally:
            subprocess.run(
                ["git", "-C", str(root), "worktree", "remove", "--force", "--force", str(place / "holdfast")],
                stderr=subprocess.DEVNULL,  # It may not have come so far that there is one.
            )
            signal.signal(signal.SIGTERM, before)


def compared(root: Path, commit: str, plans: Sequence[Stored], blocks: int, may: Sequence[str] = ()) -> Comparison:
    """Run both trees in turn.

    Args:
        root: of the working tree.
        commit: as git names it.
        plans: what to run.
        blocks: of each tree.
        may: fields of the behaviour in which they may differ.

    Raises:
        CannotCompare: there is no such commit, or one of the two runs no plan at all.
    """
    lines = [bytes(each.plan) for each in plans]
    with working_tree(root) as ours, checkout(root, commit) as theirs:
        pairs: list[Pair] = []
        for number in range(blocks):
            if number % 2:
                second = block(theirs, lines, number)
                pairs.append((block(ours, lines, number), second))
            else:
                pairs.append((block(ours, lines, number), block(theirs, lines, number)))
        counted = block(ours, lines, 0, "--calls"), block(theirs, lines, 0, "--calls")
    differing, problems = apart([each.name for each in plans], pairs)
    refused = set(problems).union(*(names for field, names in differing.items() if field not in may))
    mixes = []
    for mix in dict.fromkeys(each.mix for each in plans):
        chosen = [at for at, each in enumerate(plans) if each.mix == mix and each.name not in refused]
        if chosen:
            mixes.append(figures(mix, chosen, pairs, counted))
    return Comparison(theirs.name, blocks, sys.version, tuple(mixes), differing, problems)


def block(tree: Tree, lines: Sequence[bytes], hash_seed: int, *options: str) -> list[Ran]:
    """Run plans in a process of their own, the first of them once more before, while everything is still imported.

    Raises:
        CannotCompare: the tree runs no plan at all.
    """
    done = subprocess.run(
        on(tree.place, str(tree.block), *options),
        input=b"".join(line + b"\n" for line in (*lines[:1], *lines)),
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": "", "PYTHONHASHSEED": str(hash_seed)},
    )
    if done.returncode:
        raise CannotCompare(f"{tree.name} cannot run the stored plans; what it says stands above.")
    return [msgspec.json.decode(line, type=Ran) for line in done.stdout.splitlines()][1:]


def apart(names: Sequence[str], pairs: Sequence[Pair]) -> tuple[dict[str, list[str]], dict[str, str]]:
    """By field, the plans that lead elsewhere in any pair; by plan, why it could not be run."""
    problems: dict[str, str] = {}
    found: dict[str, dict[str, None]] = {field: {} for field in FIELDS}
    for ours, theirs in pairs:
        led = []
        for side in (ours, theirs):
            both = zip(names, side, strict=True)
            led.append({name: ran.behaviour for name, ran in both if ran.behaviour is not None})
            problems |= {name: ran.problem for name, ran in zip(names, side, strict=True) if ran.behaviour is None}
        before, after = ({name: each[name] for name in names if name not in problems} for each in reversed(led))
        for field, different in differences(before, after).items():
            found[field] |= dict.fromkeys(different)
    return {field: list(different) for field, different in found.items()}, problems


def figures(mix: str, chosen: Sequence[int], pairs: Sequence[Pair], counted: Pair) -> MixFigures:
    """The figures of a mix.

    Args:
        mix: its name.
        chosen: the places of its plans that count.
        pairs: of timed blocks.
        counted: a pair in which calls were counted.
    """
    ratios = [_spent(theirs, chosen) / _spent(ours, chosen) for ours, theirs in pairs]
    low, middle, high = quantiles(ratios, method="inclusive") if len(ratios) > 1 else ratios * 3
    by_plan = (
        min(theirs[at].processor_s for _, theirs in pairs) / min(ours[at].processor_s for ours, _ in pairs)
        for at in chosen
    )
    ours, theirs = (_side(chosen, [pair[index] for pair in pairs], counted[index]) for index in range(2))
    return MixFigures(mix, len(chosen), middle, (low, high), median(by_plan), ours, theirs)


def _side(chosen: Sequence[int], blocks: Sequence[Sequence[Ran]], counted: Sequence[Ran]) -> Side:
    spent = median(_spent(each, chosen) for each in blocks)
    return Side(
        runs_per_s=len(chosen) / spent,
        microseconds_per_event=1e6 * spent / sum(blocks[0][at].events for at in chosen),
        calls=sum(counted[at].calls for at in chosen) / len(chosen),
    )


def _spent(ran: Sequence[Ran], chosen: Sequence[int]) -> float:
    return sum(ran[at].processor_s for at in chosen)


def _declare(place: Path) -> None:
    """The entry points of a tree, as an installation of it would have them."""
    project = tomllib.loads((place / "holdfast" / "pyproject.toml").read_text())["project"]
    folder = place / f"{project['name'].replace('-', '_')}-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines))


def _block_of(root: Path, place: Path) -> Path:
    """A commit brings the script that fits it; one from before there was any takes the first that there ever was."""
    own = place / "holdfast" / BLOCK
    if own.exists():
        return own
    first = _git(root, "log", "--diff-filter=A", "--format=%H", "--", BLOCK).split()
    if not first:
        return root / BLOCK
    taken = place / "block.py"
    taken.write_text(_git(root, "show", f"{first[-1]}:{BLOCK}"))
    return taken


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout
