"""What a system under test is made of, tier by tier, and where that differs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.systems.structured_streaming.system import StructuredStreaming
from holdfast.harness.engine.site.versions import on_tiers
from holdfast.harness.model.case import Tier
from holdfast.harness.spi.service import Site
from holdfast.suites.selfcheck.engine.scripted import ScriptedSystem


class Telling(ScriptedSystem):
    """It has two tiers, each with an engine of its own."""

    def __init__(self, *engines: str) -> None:
        super().__init__()
        self._engines = dict(zip((Tier.SIM, Tier.PROCESS), engines, strict=True))

    def versions(self, tier: Tier) -> Mapping[str, str]:
        return {"engine": self._engines[tier]} if self._engines[tier] else {}


DIFFER = (
    "Tiers differ in engine: 4.3 on tier sim and 4.0 on tier process. What is shown of one version is not shown of the "
    "other."
)


def test_a_difference_is_said_whether_the_other_tier_ran_or_not() -> None:
    system = Telling("4.3", "4.0")
    assert on_tiers(system, {Tier.SIM}) == ("On tier sim: engine 4.3.", DIFFER)
    assert on_tiers(system, set(Tier)) == ("On tier sim: engine 4.3.", "On tier process: engine 4.0.", DIFFER)
    assert on_tiers(system, ()) == ()


def test_where_there_is_none_nothing_is_said_of_it() -> None:
    assert on_tiers(Telling("4.0", "4.0"), {Tier.SIM}) == ("On tier sim: engine 4.0.",)
    assert on_tiers(Telling("4.0", ""), {Tier.SIM, Tier.PROCESS}) == ("On tier sim: engine 4.0.",)
    assert on_tiers(ScriptedSystem(), {Tier.SIM}) == ()


def test_of_a_spark_that_is_given_nobody_knows_the_version() -> None:
    system = StructuredStreaming()
    ours = system.versions(Tier.CONTAINERS)
    assert set(ours) == {"pyspark", "pyarrow", "pandas"}
    for site in (Site(spark_master="spark://host:7077"), Site(images={"spark": "team/spark:3"})):
        system.attach(partial(SiteServices, site))
        assert system.versions(Tier.CONTAINERS) == {}
    system.attach(partial(SiteServices, Site()))
    assert system.versions(Tier.CONTAINERS) == ours
