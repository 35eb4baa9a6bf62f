"""Look for what refutes the cells that nothing covers yet; resumable by its folder."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import track

from holdfast.fixtures.mutants.deviations.deviating import GENERIC, STEPS, lacking
from holdfast.suites.selfcheck.deviations.search import Found, candidates, search


def main() -> int:
    """Print what was found, one line of JSON for each cell."""
    parser = argparse.ArgumentParser(prog="python -m holdfast.suites.selfcheck.deviations", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder; an earlier search in it is gone on with")
    parser.add_argument("--step", action="append", default=[], help="only these rows")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "found.jsonl"
    lines = path.read_bytes().splitlines() if path.exists() else []
    known = {(each.step, each.deviation) for each in (msgspec.json.decode(line, type=Found) for line in lines)}
    plans, kills = candidates(), Counter[str]()
    cells = [(step.name, deviation) for step in STEPS for deviation in GENERIC if not lacking(step.name, deviation)]
    left = [cell for cell in cells if cell not in known and (not given.step or cell[0] in given.step)]
    with path.open("ab") as out:
        for step, deviation in track(left, console=Console(stderr=True)):
            out.write(msgspec.json.encode(search(step, deviation, plans, kills)) + b"\n")
            out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
