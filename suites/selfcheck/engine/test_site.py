"""What the user says about services: refused at the edge, keys never shown, opened once and closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import services
from holdfast.harness.engine.site.services import ACCESS_KEY, SECRET_KEY, site_of
from holdfast.harness.spi.service import Services, Site


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
    monkeypatch.setattr("holdfast.harness.engine.site.registry.service_provider", lambda: made)
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
    monkeypatch.setattr("holdfast.harness.engine.site.registry.service_provider", lambda: refusing)
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
