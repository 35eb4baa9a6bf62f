"""What a run calls its own at the broker is there for whoever asks next."""

from __future__ import annotations

import pytest

pytest.importorskip("confluent_kafka", reason="needs the extra containers")

from holdfast.fixtures.reference.connectors import resources

WANTED = ("input", "output")


def test_topics_are_awaited_until_the_broker_lists_them(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([{}, {"input": 1}, {"input": 1, "output": 1}])
    monkeypatch.setattr(resources, "partition_counts", lambda bootstrap: next(looks))
    resources._await_listed("broker:9092", WANTED)
    assert next(looks, None) is None


def test_one_that_is_never_listed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "partition_counts", lambda bootstrap: {"input": 1})
    monkeypatch.setattr(resources, "ANSWER_LIMIT_S", 0.0)
    with pytest.raises(OSError, match="topic output was created, but the broker at broker:9092 does not list it"):
        resources._await_listed("broker:9092", WANTED)
