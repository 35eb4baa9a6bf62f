"""Streams: the same draws everywhere, and independence of labels."""

from __future__ import annotations

from holdfast.harness.sim.streams import Stream


def test_streams_are_pinned_so_that_stored_seeds_keep_their_meaning() -> None:
    stream = Stream(7, "network")
    assert [stream.below(1000) for _ in range(5)] == [880, 323, 222, 31, 20]


def test_labels_and_seeds_are_independent() -> None:
    draws = {(seed, label): Stream(seed, label).random() for seed in (1, 2, 12) for label in ("a", "2:a", "b")}
    assert len(set(draws.values())) == len(draws)


def test_a_fork_takes_nothing_from_its_parent() -> None:
    parent, twin = Stream(3, "run"), Stream(3, "run")
    parent.fork("disk").random()
    assert parent.draws == 0
    assert parent.random() == twin.random()
    assert parent.fork("disk").random() == Stream(3, "run/disk").random()


def test_every_method_counts_one_draw_and_stays_in_range() -> None:
    stream = Stream(11, "ranges")
    for _ in range(500):
        assert 0.0 <= stream.random() < 1.0
        assert 0 <= stream.below(3) < 3
        assert 2 <= stream.between(2, 4) <= 4
        assert stream.choice("xyz") in "xyz"
        assert not stream.chance(0.0)
    assert stream.draws == 2500
    assert {stream.between(2, 4) for _ in range(200)} == {2, 3, 4}


def test_weights_are_frequencies() -> None:
    stream = Stream(5, "weights")
    drawn = [stream.weighted({"often": 3, "never": 0, "seldom": 1}) for _ in range(2000)]
    assert drawn.count("never") == 0
    assert 1400 < drawn.count("often") < 1600
