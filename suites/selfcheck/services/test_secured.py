"""Services of others that want to know who comes: brokers with TLS and SASL or certificates, a bucket and a prefix."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.fixtures.services.kafka_login import client_settings, java_settings, secrets_of
from holdfast.fixtures.services.processes.installation import missing, spark_connectors, wrong_spark
from holdfast.fixtures.services.provider import SiteServices
from holdfast.fixtures.services.site import KAFKA, OBJECT_STORE
from holdfast.fixtures.systems.reference import ReferenceSystem
from holdfast.fixtures.systems.structured_streaming.endpoints import Endpoints
from holdfast.harness.model.case import Tier
from holdfast.harness.model.verdict import Outcome
from holdfast.harness.spi.service import Login, Site, StoreLocation
from holdfast.suites.conformance.plans import plan

for client in ("confluent_kafka", "minio"):
    pytest.importorskip(client)

from holdfast.fixtures.services.kafka import GivenKafka, answers  # noqa: E402 - needs the clients
from holdfast.fixtures.services.object_client import object_client  # noqa: E402
from holdfast.fixtures.services.object_store import GivenObjectStore  # noqa: E402
from holdfast.fixtures.services.ports import LOOPBACK, free_port  # noqa: E402
from holdfast.fixtures.services.processes.own_process import Session  # noqa: E402
from holdfast.fixtures.services.processes.stack import StoreProcess  # noqa: E402
from holdfast.suites.selfcheck.marks import unless  # noqa: E402
from holdfast.suites.selfcheck.services.secured_broker import (  # noqa: E402
    PASSWORD,
    Authority,
    CertificateBroker,
    PasswordBroker,
    SecuredBroker,
)

NO_BROKER = missing(KAFKA)
NO_SPARK = wrong_spark() or missing(KAFKA, OBJECT_STORE, spark_connectors())
BUCKET, PREFIX, OTHER, REGION = "team-data", "tests/streams/", "theirs/report.csv", "eu-central-1"
ANSWER_S = 20.0


@pytest.fixture(scope="module", params=[PasswordBroker, CertificateBroker])
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with closing(Session()) as session:
        made: SecuredBroker = request.param(session, tmp_path_factory.mktemp("certificates"))
        made.start()
        yield made


def wrong_logins(broker: SecuredBroker, folder: Path) -> Iterator[Login]:
    yield Login()
    yield replace(broker.access(), authority="")
    if isinstance(broker, PasswordBroker):
        yield broker.access("another")
    if isinstance(broker, CertificateBroker):
        yield replace(broker.access(), certificate="", key="")
        yield broker.access(Authority(folder))


@pytest.mark.nightly
@pytest.mark.tier("process")
@unless(NO_BROKER)
def test_a_broker_lets_in_who_can_prove_it_and_trusts_its_authority(broker: SecuredBroker, tmp_path: Path) -> None:
    right = broker.access()
    assert answers(broker.secured, ANSWER_S, client_settings(right))
    assert GivenKafka(broker.secured, right).login == right
    for wrong in wrong_logins(broker, tmp_path):
        with pytest.raises(OSError, match="but no broker answers there: start it") as refused:
            GivenKafka(broker.secured, wrong)
        assert PASSWORD not in str(refused.value)


@pytest.mark.nightly
@pytest.mark.tier("process")
@unless(NO_BROKER)
def test_topics_are_fed_and_read_there(broker: SecuredBroker, tmp_path: Path) -> None:
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient

    from holdfast.fixtures.pipelines.output.outgoing import TopicOutput
    from holdfast.fixtures.pipelines.output.stored_output import KeptRows
    from holdfast.fixtures.pipelines.output.topic_output import TopicLook
    from holdfast.fixtures.services.topics import delete_topics, make_topics

    login = client_settings(broker.access())
    client = {**login, "bootstrap.servers": broker.secured, "log_level": 0}
    admin = AdminClient(client)
    make_topics(admin, {"holdfast-secured": 1})
    producer = Producer(client)
    producer.produce("holdfast-secured", b'{"partition": 0, "offset": 0}')
    assert not producer.flush(ANSWER_S)
    with closing(TopicLook(broker.secured, "holdfast-secured", TopicOutput(), (), KeptRows(tmp_path), login)) as look:
        assert look.poll(final=True)
    delete_topics(admin, ["holdfast-secured"])


@pytest.mark.nightly
@pytest.mark.tier("spark")
@pytest.mark.timeout(900)
@unless(NO_SPARK)
def test_a_pipeline_runs_from_there_into_a_bucket_of_others(broker: SecuredBroker, tmp_path: Path) -> None:
    from io import BytesIO

    from holdfast.suites.selfcheck.services.run_there import run_there

    with closing(Session()) as session:
        store = StoreProcess(session, port := free_port(), f"{LOOPBACK}:{port}")
        store.location = StoreLocation(region=REGION)
        store.process._environment["VGW_REGION"] = REGION
        store.start()
        store.client().make_bucket(BUCKET)
        store.client().put_object(BUCKET, OTHER, BytesIO(b"a"), 1)
        site = Site(
            kafka_bootstrap=broker.secured,
            kafka_login=broker.access(),
            s3_endpoint=store.external,
            s3_access_key=store.keys.access_key,
            s3_secret_key=store.keys.secret_key,
            s3_location=StoreLocation(bucket=BUCKET, prefix=PREFIX, region=REGION),
        )
        judged = run_there(site, tmp_path)
        left = [each.object_name for each in store.client().list_objects(BUCKET, recursive=True)]
        buckets = [each.name for each in store.client().list_buckets()]
    assert (judged.outcome, judged.reason, judged.shown) == (Outcome.PASS, "", 0)
    assert judged.units
    assert (left, buckets) == ([OTHER], [BUCKET])


def test_java_is_told_the_same_and_finds_the_certificates_in_it(tmp_path: Path) -> None:
    for name in ("ca", "crt", "key"):
        (tmp_path / name).write_text(f"-----{name}-----")
    login = Login(
        protocol="SASL_SSL",
        mechanism="PLAIN",
        username="team",
        password='a"b\\c',
        authority=str(tmp_path / "ca"),
        certificate=str(tmp_path / "crt"),
        key=str(tmp_path / "key"),
    )
    given = java_settings(login)
    assert given["sasl.jaas.config"] == (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        r'username="team" password="a\"b\\c";'
    )
    assert given["ssl.truststore.certificates"] == "-----ca-----"
    assert given["ssl.keystore.key"] == "-----key-----"
    assert client_settings(login)["sasl.password"] == 'a"b\\c'
    assert secrets_of(login) == {'a"b\\c', r"a\"b\\c", "-----key-----"}
    assert java_settings(Login()) == client_settings(Login()) == {}


def test_nothing_that_is_shown_has_the_password() -> None:
    login = Login(protocol="SASL_SSL", mechanism="PLAIN", username="team", password="hidden")
    site = Site(kafka_bootstrap="theirs:9092", kafka_login=login, s3_location=StoreLocation(bucket="b"))
    endpoints = Endpoints("in", "out", "state", 1, 1, "theirs:9092", java_settings(login))
    shown = f"{site!r} {login!r} {endpoints!r}"
    assert "hidden" not in shown
    assert "theirs:9092" in shown
    assert "bucket='b'" in shown
    assert endpoints.kafka_options["kafka.security.protocol"] == "SASL_SSL"
    assert "hidden" in endpoints.kafka_options["kafka.sasl.jaas.config"]


@pytest.mark.parametrize(
    ("location", "start"),
    [
        (StoreLocation(), "http://store.example:9000/team-data/a?"),
        (StoreLocation(virtual_hosts=True), "http://team-data.store.example:9000/a?"),
    ],
)
def test_a_bucket_is_in_the_path_or_in_the_host(location: StoreLocation, start: str) -> None:
    client = object_client("http://store.example:9000", "key", "words", location=replace(location, region="eu-west-1"))
    url = client.presigned_get_object(BUCKET, "a")
    assert url.startswith(start)
    assert "eu-west-1" in url


def test_a_given_bucket_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.fixtures.services import object_store

    made: list[str] = []
    monkeypatch.setattr(object_store, "_complaint", lambda *any: "")
    monkeypatch.setattr(object_store, "_create_bucket", lambda client, name: made.append(name))
    store = GivenObjectStore("http://store:9000", object_store.Keys("a", "b"), location=StoreLocation(bucket=BUCKET))
    store.create_bucket(BUCKET)
    store.create_bucket("holdfast")
    assert made == ["holdfast"]


@pytest.mark.parametrize(
    ("site", "sentence"),
    [
        (Site(kafka_bootstrap="a:1", kafka_login=Login(protocol="SSL")), "reaches brokers without SSL"),
        (Site(s3_endpoint="http://a", s3_location=StoreLocation(prefix="a/")), "keeps checkpoints in bucket holdfast"),
    ],
)
def test_the_reference_says_that_it_is_not_let_in(site: Site, sentence: str) -> None:
    system = ReferenceSystem()
    system.attach(lambda: SiteServices(site))
    assert sentence in system.objection(plan(), Tier.CONTAINERS)
