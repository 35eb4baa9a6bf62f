"""Resource requirements as a request gives them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.harness.engine.job_cluster.requirements import DONE, PENDING, required
from holdfast.harness.model.events import RescaleAccepted, RescaleRefused

VERTICES = ("source", "sink")


def body(**bounds: tuple[Any, Any]) -> dict[str, Any]:
    return {
        vertex: {"parallelism": {"lowerBound": lower, "upperBound": upper}} for vertex, (lower, upper) in bounds.items()
    }


def test_all_vertices_with_the_same_bounds_are_taken() -> None:
    wanted = required(body(source=(1, 4), sink=(1, 4)), VERTICES)
    assert (wanted.lower, wanted.upper, wanted.state) == (1, 4, PENDING)


def test_the_lower_bound_is_one_where_nobody_gives_it() -> None:
    upper = {"parallelism": {"upperBound": 3}}
    assert required({"source": upper, "sink": upper}, VERTICES).lower == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (body(source=(1, 4)), "vertex 'sink' is missing: name each of source, sink."),
        (body(source=(1, 4), sink=(1, 4), map=(1, 4)), "the job has no vertex 'map': name each of source, sink."),
        (body(source=(1, 4), sink=(1, 2)), "vertex 'sink' is to have 1 to 2 subtasks, and 'source' 1 to 4 subtasks"),
        (body(source=(3, 2), sink=(3, 2)), "with 1 <= lowerBound <= upperBound"),
        (body(source=(0, 2), sink=(0, 2)), "with 1 <= lowerBound <= upperBound"),
        (body(source=(1, "2"), sink=(1, "2")), "the bounds of vertex 'source' are"),
        ({"source": 4, "sink": 4}, "the bounds of vertex 'source' are 4; write"),
    ],
)
def test_what_is_none_is_refused_in_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as refused:
        required(given, VERTICES)
    assert said in str(refused.value)


def test_the_job_answers() -> None:
    accepted, refused = (required(body(source=(1, 4), sink=(1, 4)), VERTICES) for _ in range(2))
    accepted.observe(RescaleAccepted(parallelism=4))
    refused.observe(RescaleRefused(parallelism=4, reason="there is a reason."))
    assert (accepted.state, accepted.refusal) == (DONE, "")
    assert (refused.state, refused.refusal) == (DONE, "there is a reason.")
    accepted.observe(RescaleRefused(parallelism=4, reason="of another request."))
    assert not accepted.refusal
