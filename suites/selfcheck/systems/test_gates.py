"""Gates in front of acknowledgements: each acknowledgement counts once for each gate."""

from __future__ import annotations

from itertools import count

from holdfast.fixtures.systems.json_lines.gates import ACKNOWLEDGE, Gates
from holdfast.fixtures.systems.json_lines.messages import Ack
from holdfast.harness.model.plan import Gate
from holdfast.harness.model.target import Role, Target

WORKER = Target(Role.WORKER)
FIRST, SECOND, THIRD = (Ack(0, offset) for offset in range(3))


def test_what_one_gate_has_released_counts_for_another_once() -> None:
    gates = Gates(count(1))
    first, third = (gates.arm(Gate(ACKNOWLEDGE, WORKER, occurrence)) for occurrence in (1, 3))
    assert gates.hold(FIRST, "worker-0.0")
    assert gates.hold(SECOND, "worker-0.0")
    passed = [answer for answer in gates.release(first) if not gates.hold(answer, "worker-0.0")]
    assert passed == [FIRST, SECOND]
    assert gates.hold(THIRD, "worker-0.0")
    assert [reached.gate for reached in gates.reached()] == [first, third]


def test_two_gates_may_wait_for_the_same_acknowledgement() -> None:
    gates = Gates(count(1))
    one, other = (gates.arm(Gate(ACKNOWLEDGE, WORKER)) for _ in range(2))
    assert gates.hold(FIRST, "worker-0.0")
    assert [gates.hold(answer, "worker-0.0") for answer in gates.release(one)] == [True]
    assert gates.release(other) == [FIRST]
    assert not gates.hold(FIRST, "worker-0.0")
