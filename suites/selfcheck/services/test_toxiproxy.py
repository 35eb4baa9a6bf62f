"""Faults of one link of a Toxiproxy that act at a time: each is undone on its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.fixtures.services.toxiproxy import Toxiproxy
from holdfast.harness.adapter.links import Links
from holdfast.harness.spi.controls.link import BACKWARD, BOTH, FORWARD, Detail
from holdfast.suites.selfcheck.services.toxiproxy_twin import LINK, ToxiproxyTwin

Fault = tuple[str, Detail]
PAIRS: tuple[tuple[Fault, Fault], ...] = (
    (("slow", 50), ("slow", 700)),
    (("limit", 1), ("limit", 9)),
    (("cut", FORWARD), ("cut", BACKWARD)),
    (("cut", BOTH), ("cut", FORWARD)),
    (("cut", BOTH), ("slow", 50)),
    (("limit", 9), ("cut", BOTH)),
    (("black-hole", ""), ("cut", BOTH)),
)


@pytest.fixture
def twin() -> ToxiproxyTwin:
    return ToxiproxyTwin()


@pytest.fixture
def links(twin: ToxiproxyTwin) -> Iterator[Links]:
    with twin.serving() as port:
        yield Links(Toxiproxy(port))


def impair(links: Links, *faults: Fault) -> None:
    for kind, detail in faults:
        links.act(LINK, kind, detail)


def attributes(twin: ToxiproxyTwin) -> dict[str, dict[str, int]]:
    return {name: toxic["attributes"] for name, toxic in twin.toxics.items()}


@pytest.mark.parametrize(("first", "second"), [*PAIRS, *((second, first) for first, second in PAIRS)])
def test_one_is_undone_and_the_other_goes_on(links: Links, twin: ToxiproxyTwin, first: Fault, second: Fault) -> None:
    impair(links, second)
    alone = attributes(twin)
    links.restore(LINK, *second)
    impair(links, first, second)
    links.restore(LINK, *first)
    assert attributes(twin) == alone
    assert links.whole(LINK, *first)
    assert not links.whole(LINK, *second)
    assert not links.whole(LINK)
    links.restore(LINK, *second)
    assert links.whole(LINK, *second)
    assert links.whole(LINK)


def test_the_newest_of_two_delays_counts(links: Links, twin: ToxiproxyTwin) -> None:
    impair(links, ("slow", 700), ("slow", 50))
    assert attributes(twin) == {"slow-upstream": {"latency": 50}, "slow-downstream": {"latency": 50}}


def test_a_cut_lets_nothing_through_while_another_is_healed(links: Links, twin: ToxiproxyTwin) -> None:
    """A toxic that is replaced would let through what it has held back."""
    impair(links, ("cut", BOTH), ("cut", FORWARD))
    links.restore(LINK, "cut", BOTH)
    assert twin.destroyed == ["cut-downstream"]


def test_what_toxiproxy_does_not_take_does_not_act(links: Links, twin: ToxiproxyTwin) -> None:
    twin.refuses = "latency"
    with pytest.raises(OSError, match="Toxiproxy refuses a request: InvalidToxic"):
        impair(links, ("slow", 50))
    twin.refuses = ""
    impair(links, ("cut", FORWARD))
    assert links.whole(LINK, "slow", 50)
    assert attributes(twin) == {"cut-upstream": {"rate": 0}}


def test_what_somebody_else_left_is_undone(links: Links, twin: ToxiproxyTwin) -> None:
    impair(links, ("slow", 50), ("cut", BOTH))
    with twin.serving() as port:
        another = Links(Toxiproxy(port))
        assert not another.whole(LINK, "slow", 50)
        another.restore(LINK, "slow", 50)
        assert another.whole(LINK, "slow", 50)
        assert not another.whole(LINK)
        another.restore(LINK)
        assert another.whole(LINK)


def test_an_unknown_kind_is_refused(links: Links) -> None:
    with pytest.raises(ValueError, match="kind 'tickle' of a link's fault is unknown; allowed are cut, slow, limit"):
        links.restore(LINK, "tickle", "")


def test_an_unknown_link_is_refused(links: Links) -> None:
    with pytest.raises(ValueError, match="link 'own' is unknown; known are object-store"):
        links.restore("own")
