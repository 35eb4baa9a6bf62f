"""Resource requirements: at which parallelism a job is to go on while it runs (Flink's JobResourceRequirements).

Each vertex has a lower and an upper bound. Here every vertex of a job has the same parallelism, so all have the same
bounds. The job goes on at the upper bound, or at as many slots as there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.harness.model.events import Event, RescaleAccepted, RescaleRefused

MOST_PARALLELISM = 1 << 15
"""As in Flink."""
SHOWN = 80
"""So much of a wrong value is said."""
PENDING, DONE = "pending", "done"


@dataclass
class Requirements:
    """Those of one job.

    Attributes:
        lower, upper: bounds of every vertex.
        state: PENDING until the job has accepted or refused them, then DONE.
        refusal: why the job goes on as it was.
    """

    lower: int
    upper: int
    state: str = DONE
    refusal: str = ""

    def observe(self, event: Event) -> None:
        """The job has accepted or refused them."""
        if isinstance(event, RescaleAccepted | RescaleRefused) and self.state == PENDING:
            self.state = DONE
            self.refusal = event.reason if isinstance(event, RescaleRefused) else ""


def required(body: Mapping[str, Any], vertices: Sequence[str]) -> Requirements:
    """What a request requires.

    Args:
        body: by vertex, `{"parallelism": {"lowerBound": 1, "upperBound": 4}}`.
        vertices: of the job.

    Raises:
        ValueError: it is no such thing, or names other vertices; one sentence.
    """
    named = {str(vertex) for vertex in body}
    if strange := sorted(named - set(vertices)):
        raise ValueError(f"the job has no vertex {strange[0][:SHOWN]!r}: name each of {', '.join(vertices)}.")
    if missing := [vertex for vertex in vertices if vertex not in named]:
        raise ValueError(f"vertex {missing[0]!r} is missing: name each of {', '.join(vertices)}.")
    bounds = {vertex: _bounds(vertex, body[vertex]) for vertex in vertices}
    first = bounds[vertices[0]]
    other = next((vertex for vertex in vertices if bounds[vertex] != first), "")
    if other:
        raise ValueError(
            f"vertex {other!r} is to have {_words(bounds[other])}, and {vertices[0]!r} {_words(first)}: every vertex "
            "of a job has the same parallelism here, so give all the same bounds."
        )
    return Requirements(*first, state=PENDING)


def _bounds(vertex: str, given: object) -> tuple[int, int]:
    parallelism = given.get("parallelism") if isinstance(given, Mapping) else None
    bounds = parallelism if isinstance(parallelism, Mapping) else {}
    lower, upper = bounds.get("lowerBound", 1), bounds.get("upperBound")
    if type(lower) is not int or type(upper) is not int or not 1 <= lower <= upper <= MOST_PARALLELISM:
        raise ValueError(
            f"the bounds of vertex {vertex!r} are {repr(given)[:SHOWN]}; write "
            '{"parallelism": {"lowerBound": 1, "upperBound": 4}}, with '
            f"1 <= lowerBound <= upperBound <= {MOST_PARALLELISM}."
        )
    return lower, upper


def _words(bounds: tuple[int, int]) -> str:
    return f"{bounds[0]} to {bounds[1]} subtasks"
