"""What each case costs on each tier, as data: by this a quick certificate chooses its cases.

`costs.toml` has a table for each tier and in it, by case, how many seconds all its runs take, one after the other. It
is written from a certificate of the reference on an idle machine; a case that is not in it costs as many seconds for
each run as selection.UNKNOWN_RUN_S says for its tier. The tier sim has parts of the reference, too, with what all
checks of their kits take in a quick certificate; these are written by hand, and so are cases of Flink, a certificate of
which takes 9 s for each run.

holdfast certify reference --thorough --jobs 1 && python -m holdfast.suites.spec.costs holdfast-out/latest/results.json
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from holdfast.harness.engine.artefacts.json_files import read_journal
from holdfast.harness.model.case import Tier
from holdfast.suites.spec import COSTS

_HEAD = "# Seconds of all runs of a case, one after the other. Written by `python -m holdfast.suites.spec.costs`.\n"


@cache
def load_costs() -> Mapping[tuple[str, Tier], float]:
    """By case and tier, in seconds.

    Raises:
        ValueError: the file is not as it must be.
    """
    text = resources.files(__package__).joinpath(COSTS).read_text(encoding="utf-8")
    try:
        tables = msgspec.convert(tomllib.loads(text), dict[Tier, dict[str, Annotated[float, msgspec.Meta(ge=0)]]])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{COSTS}: {error}; a table for each tier has seconds by case.") from error
    return {(case, tier): seconds for tier, cases in tables.items() for case, seconds in cases.items()}


def as_text(costs: Mapping[tuple[str, Tier], float]) -> str:
    """The content of the file."""
    lines = [_HEAD]
    for tier in Tier:
        here = sorted((case, seconds) for (case, on), seconds in costs.items() if on is tier)
        if here:
            lines += [f"\n[{tier}]\n", *(f'"{case}" = {seconds:.2f}\n' for case, seconds in here)]
    return "".join(lines)


def main(results: Annotated[Path, typer.Argument(help="results.json of a thorough certificate")]) -> None:
    """Write the costs of the cases that ran; those of others stay."""
    ran = [each for each in read_journal(results).cases if each.wall_ms]
    costs = {**load_costs(), **{(each.case, each.tier): each.wall_ms / 1_000 for each in ran}}
    Path(__file__).with_name(COSTS).write_text(as_text(costs), encoding="utf-8")
    print(f"{COSTS}: {len(ran)} costs from {results}")  # noqa: T201 - the command's own output


if __name__ == "__main__":
    typer.run(main)
