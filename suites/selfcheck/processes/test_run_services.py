"""What a run has at services is its own, and is given back even where the run cannot stand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.drivers.processes.run_services import NO_SERVICES, RunServices, run_services
from holdfast.fixtures.reference.protocol.configuration.configuration import Configuration
from holdfast.fixtures.reference.protocol.configuration.options import DEFAULTS
from holdfast.fixtures.systems.reference import variant_named
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.harness.model.option_values import Connector, Profile
from holdfast.harness.model.target import Role
from holdfast.suites.selfcheck.processes.test_deployment import deploy

INPUTS = Synthetic().generate({}, 1)
FILES = DEFAULTS[Profile.FLINK_2]
QUEUES = replace(FILES, source_connector=Connector.RABBITMQ)


class Services:
    """Addresses of a stack that never starts anything, and what becomes of a run's own there."""

    run = "abc"

    def __init__(self) -> None:
        self.made: list[str] = []
        login = SimpleNamespace(_asdict=lambda: {"host": "h", "port": 1, "user": "u", "password": "p"})
        self.queues = SimpleNamespace(login=login, proxied=login)
        self.kafka = SimpleNamespace(external="kafka:1", proxied="kafka:2")
        keys = SimpleNamespace(access_key="a", secret_key="s")
        self.object_store = SimpleNamespace(
            external="http://store:1", proxied="http://store:2", keys=keys, create_bucket=self.made.append
        )
        self.database = SimpleNamespace(create_database=self.made.append, drop_database=self.made.remove)

    def start(self) -> None:
        self.made.append("started")

    def save_logs(self, folder: Path) -> None:
        folder.mkdir()


def has(stack: Services, configuration: Configuration, **wanted: bool) -> RunServices:
    return run_services(cast("Any", stack), INPUTS, configuration, **{"connects": False, **wanted})


@pytest.mark.parametrize(
    ("configuration", "wanted", "lives"),
    [
        (FILES, {"connects": True}, (Role.BROKER, Role.STORAGE)),
        (QUEUES, {}, (Role.SOURCE_SYSTEM,)),
        (QUEUES, {"connects": True}, (Role.BROKER, Role.STORAGE, Role.SOURCE_SYSTEM)),
        (FILES, {"writes_table": True}, ()),
    ],
)
def test_the_lives_of_what_it_uses_belong_to_the_run(
    configuration: Configuration, wanted: dict[str, bool], lives: tuple[Role, ...]
) -> None:
    stack = Services()
    services = has(stack, configuration, **wanted)
    assert services.lives == lives
    assert ("started" in stack.made) == ("connects" in wanted)
    assert NO_SERVICES.lives == ()


def test_the_runtime_reaches_them_through_links() -> None:
    services = has(Services(), FILES, connects=True)
    ours, theirs = services.connectors, services.inner_connectors
    assert ours is not None
    assert theirs is not None
    assert (ours.kafka_bootstrap, ours.s3_endpoint) == ("kafka:1", "http://store:1")
    assert (theirs.kafka_bootstrap, theirs.s3_endpoint) == ("kafka:2", "http://store:2")
    assert ours.run == theirs.run


def test_a_run_that_cannot_stand_gives_back_its_database(tmp_path: Path) -> None:
    stack = Services()
    services = has(stack, FILES, writes_table=True)
    assert len(stack.made) == 1
    with pytest.raises(ValueError, match="variant 'nonsense'"):
        deploy(tmp_path, variant=variant_named("nonsense"), services=services)
    assert stack.made == []
    assert [path.name for path in tmp_path.iterdir()] == ["services"]
