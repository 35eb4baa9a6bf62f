"""Kits many times: with the seeds that were asked for, and each that came out otherwise is told."""

from __future__ import annotations

from holdfast.harness.model.status import Status
from holdfast.suites.certify.check import Check, CheckVerdict
from holdfast.suites.selfcheck.certify.ten_of_ten import Kit, tried


def nothing(bench: object) -> None:
    """The verdict is that of the kit."""


CHECK = Check[object]("REC-02/resumes", "It resumes.", nothing)


def fails_from_seed_7(check: Check[object], subject: object, seed: int) -> CheckVerdict:
    status = Status.FAIL if seed >= 7 else Status.PASS
    return CheckVerdict(check, status, check.rule, f"{subject} with {seed}")


def test_each_seed_is_tried_and_an_unexpected_one_is_told() -> None:
    lines: list[str] = []
    kit = Kit({CHECK.id: CHECK}, fails_from_seed_7, {"right": "R"}, [("wrong", "W", CHECK.id)])
    assert tried(kit, range(6, 8), lines.append) == ("0 of 1", "0 of 1", 2)
    assert [line for line in lines if "R with" in line] == [line for line in lines if line.startswith("right, seed 7")]
    assert [line.partition(" in ")[0] for line in lines if " of 2" in line] == [
        "right: 1 of 2",
        f"wrong by {CHECK.id}: 1 of 2",
    ]
    assert tried(kit, range(3, 5), lines.append)[0] == "1 of 1"
