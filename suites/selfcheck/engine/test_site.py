"""What the user says about services: refused at the edge, keys never shown, opened once and closed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import services
from holdfast.harness.engine.site.services import ACCESS_KEY, SECRET_KEY, location_of, login_of, site_of
from holdfast.harness.spi.service import Login, Services, Site, StoreLocation


class Opened:
    """Services that note whether they were closed."""

    def __init__(self) -> None:
        self.closed = 0
        self.unreachable: OSError | ValueError | None = None

    def require_reachable(self) -> None:
        if self.unreachable:
            raise self.unreachable

    def save_logs(self, folder: Path) -> None: ...

    def close(self) -> None:
        self.closed += 1


class Provider:
    """Opens services for a site, or refuses."""

    def __init__(self, refusal: str = "") -> None:
        self.opened: list[tuple[Site, Opened]] = []
        self._refusal = refusal

    def open(self, wanted: Site) -> Services:
        if self._refusal:
            raise ValueError(self._refusal)
        self.opened.append((wanted, Opened()))
        return self.opened[-1][1]


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Provider:
    made = Provider()
    monkeypatch.setattr("holdfast.harness.engine.site.services.service_provider", lambda: made)
    monkeypatch.setattr(services, "_services", None)
    monkeypatch.setattr(services, "_site", Site())
    return made


def test_services_are_opened_once_for_the_site_and_closed_once(provider: Provider) -> None:
    services.settle(Site(kafka_bootstrap="here:9092"))
    assert services.services() is services.services()
    services.close_services()
    services.close_services()
    ((wanted, opened),) = provider.opened
    assert (wanted.kafka_bootstrap, opened.closed) == ("here:9092", 1)


@pytest.mark.parametrize("error", [OSError("nobody answers there."), ValueError("write it as host:port.")])
def test_a_service_that_was_named_and_is_not_there_is_wrong_usage(
    provider: Provider, error: OSError | ValueError
) -> None:
    services.settle(Site(kafka_bootstrap="here:9092"))
    services.require_reachable()
    provider.opened[0][1].unreachable = error
    with pytest.raises(UsageError, match=str(error)):
        services.require_reachable()


def test_where_no_service_was_named_none_is_opened(provider: Provider) -> None:
    services.settle(Site(allow_faults_on=frozenset({"kafka"})))
    services.require_reachable()
    assert provider.opened == []


def test_a_site_that_is_refused_is_wrong_usage(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = Provider("image 'kavka' is unknown.")
    monkeypatch.setattr("holdfast.harness.engine.site.services.service_provider", lambda: refusing)
    with pytest.raises(UsageError, match="kavka"):
        services.services()


def test_the_keys_come_from_the_environment_and_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ACCESS_KEY, "who-i-am")
    monkeypatch.setenv(SECRET_KEY, "what-nobody-knows")
    made = site_of("", "http://store:9000", "", ["kafka=ours:1"], ["object-store"])
    assert (made.s3_access_key, made.s3_secret_key) == ("who-i-am", "what-nobody-knows")
    assert made.images == {"kafka": "ours:1"}
    assert made.allow_faults_on == {"object-store"}
    assert "store:9000" in repr(made)
    assert "who-i-am" not in repr(made)
    assert "nobody-knows" not in repr(made)


def test_a_store_without_keys_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ACCESS_KEY, "who-i-am")
    monkeypatch.delenv(SECRET_KEY, raising=False)
    with pytest.raises(UsageError, match=SECRET_KEY):
        site_of("", "http://store:9000", "", (), ())


@pytest.mark.parametrize("image", ["kafka", "kafka=", "=ours:1"])
def test_an_image_without_name_or_tag_is_refused(image: str) -> None:
    with pytest.raises(UsageError, match="NAME=IMAGE"):
        site_of("", "", "", [image], ())


LOGIN = {"HOLDFAST_KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "HOLDFAST_KAFKA_USERNAME": "a", "HOLDFAST_KAFKA_PASSWORD": "b"}


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"HOLDFAST_KAFKA_SECURITY_PROTOCOL": "TLS"}, "is 'TLS': use one of PLAINTEXT, SSL, SASL_SSL"),
        ({**LOGIN, "HOLDFAST_KAFKA_PASSWORD": ""}, "HOLDFAST_KAFKA_PASSWORD is not set: export it."),
        ({**LOGIN, "HOLDFAST_KAFKA_SASL_MECHANISM": "GSSAPI"}, "use one of SCRAM-SHA-512, SCRAM-SHA-256, PLAIN."),
        ({**LOGIN, "HOLDFAST_KAFKA_CA": "/none.pem"}, "HOLDFAST_KAFKA_CA is '/none.pem', and there is no such file"),
        (
            {**LOGIN, "HOLDFAST_KAFKA_KEY": __file__},
            "HOLDFAST_KAFKA_CERTIFICATE and HOLDFAST_KAFKA_KEY belong together",
        ),
        (
            {**LOGIN, "HOLDFAST_KAFKA_CERTIFICATE": __file__, "HOLDFAST_KAFKA_KEY": os.__file__},
            "convert it with openssl pkcs8 -topk8 -nocrypt.",
        ),
    ],
)
def test_a_login_that_cannot_be_used_is_refused(environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        login_of(environment)
    assert sentence in str(refused.value)


def test_a_login_comes_from_the_environment() -> None:
    assert login_of({}) == login_of({"HOLDFAST_KAFKA_PASSWORD": "unused"}) == Login()
    expected = Login(
        protocol="SASL_SSL", mechanism="SCRAM-SHA-512", username="a", password="b", authority=os.path.abspath(__file__)
    )
    assert login_of({**LOGIN, "HOLDFAST_KAFKA_CA": __file__}) == expected


def test_the_place_in_a_store_comes_from_the_environment() -> None:
    assert location_of({}) == StoreLocation()
    named = {"BUCKET": "team", "PREFIX": "/tests/streams", "REGION": "eu-west-1", "STYLE": "virtual-host"}
    found = location_of({f"HOLDFAST_S3_{name}": value for name, value in named.items()})
    assert found == StoreLocation(bucket="team", prefix="tests/streams/", region="eu-west-1", virtual_hosts=True)
    for name, value in (("STYLE", "dns"), ("BUCKET", "team/tests")):
        with pytest.raises(UsageError, match=f"HOLDFAST_S3_{name} is '{value}'"):
            location_of({f"HOLDFAST_S3_{name}": value})


def test_only_services_that_are_named_need_access(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**LOGIN, ACCESS_KEY: "a", SECRET_KEY: "b", "HOLDFAST_S3_BUCKET": "team"}.items():
        monkeypatch.setenv(name, value)
    assert site_of("", "", "", (), ()) == Site()
    made = site_of("theirs:9093", "http://store:9000", "", (), ())
    assert (made.kafka_login.password, made.s3_location.bucket) == ("b", "team")
