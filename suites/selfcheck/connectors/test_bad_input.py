"""Services that cannot be used: one sentence, within seconds, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from holdfast.fixtures.reference.connectors.settings import Connectors
from holdfast.fixtures.reference.drivers.processes.deployment import ProcessDeployment
from holdfast.fixtures.reference.drivers.processes.run_services import RunServices
from holdfast.fixtures.reference.parts import Variant
from holdfast.fixtures.reference.protocol.configuration.submission import configure
from holdfast.fixtures.workloads.synthetic import Synthetic
from holdfast.suites.conformance.plans import plan
from holdfast.suites.selfcheck.connectors.conftest import connectors_of
from holdfast.suites.selfcheck.soon import ends_within

if TYPE_CHECKING:
    from holdfast.fixtures.services.stack import Stack

pytestmark = pytest.mark.tier("containers")
LIMIT_S = 12.0


def deploy(connectors: Connectors, folder: Path) -> None:
    chosen = plan()
    inputs = Synthetic().generate(chosen.workload.parameters, chosen.run_seed)
    services = RunServices(connectors=connectors, inner_connectors=connectors)
    ProcessDeployment(chosen, inputs, Variant(), configure(chosen), folder, services=services).close()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kafka_bootstrap": "127.0.0.1:9"}, r"no broker responds at 127\.0\.0\.1:9 within 5 s: start it or .*"),
        ({"s3_endpoint": "http://127.0.0.1:9"}, r"object store http://127\.0\.0\.1:9: holdfast: the store does not .*"),
        ({"s3_secret_key": "another"}, r"object store http://127.*: bucket 'holdfast' refuses .*: export keys .*"),
        ({"s3_access_key": "nobody"}, r"object store http://127.*: bucket 'holdfast' refuses .*: export keys .*"),
        ({"bucket": "nowhere"}, r"object store http://127.*: bucket 'nowhere' does not exist: create .*"),
    ],
    ids=lambda changed: next(iter(changed)) if isinstance(changed, dict) else "",
)
def test_what_cannot_be_used_is_refused(stack: Stack, changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    with ends_within(LIMIT_S), pytest.raises(OSError, match=f"^{message}$") as caught:
        deploy(replace(connectors_of(stack), **changed), tmp_path)
    assert stack.object_store.keys.secret_key not in repr(caught.value)
    assert not (tmp_path / "events").exists()


def test_a_topic_with_another_number_of_partitions_is_refused(connectors: Connectors, tmp_path: Path) -> None:
    wider = replace(connectors, input_partitions=3)
    with pytest.raises(OSError, match=r"^topic holdfast-\w+-input has 2 partitions and the run needs 3: .*\.$"):
        deploy(wider, tmp_path)


def test_a_topic_that_holds_records_already_is_refused(connectors: Connectors, tmp_path: Path) -> None:
    from confluent_kafka import Producer

    stranger = Producer({"bootstrap.servers": connectors.kafka_bootstrap})
    stranger.produce(connectors.input_topic, b"1", b"a", partition=0)
    stranger.flush(LIMIT_S)
    with pytest.raises(OSError, match=r"lies at offset \d+ of topic .*-input: somebody else writes to it\.$"):
        deploy(connectors, tmp_path)
