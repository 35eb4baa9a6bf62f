"""The site of this process: what the user said about services, and those that were opened.

One for the whole process, because a broker or a cluster serves every run of a command.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import cast

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points
from holdfast.harness.engine.site.access import location_of, login_of
from holdfast.harness.lease import abandoned
from holdfast.harness.spi.images import BringsImages, ImageSet
from holdfast.harness.spi.service import NO_LOGIN, OUR_LOCATION, InstallsServices, ServiceProvider, Services, Site

ACCESS_KEY, SECRET_KEY = "HOLDFAST_S3_ACCESS_KEY", "HOLDFAST_S3_SECRET_KEY"
"""Environment variables: what is typed can be read by everybody on the machine, and stands in reports."""


class Sites(msgspec.Struct, frozen=True, kw_only=True):
    """Services that exist, as the options of `certify` name them."""

    kafka_bootstrap: str = ""
    s3_endpoint: str = ""
    spark_master: str = ""
    images: tuple[str, ...] = ()
    allow_faults_on: tuple[str, ...] = ()


_site = Site()
_services: Services | None = None


def site_of(
    kafka_bootstrap: str, s3_endpoint: str, spark_master: str, images: Iterable[str], allow_faults_on: Iterable[str]
) -> Site:
    """A site from what was typed; what lets us in at brokers and stores comes from the environment.

    Raises:
        UsageError: one sentence.
    """
    named = dict(each.partition("=")[::2] for each in images)
    for name, image in named.items():
        if not (name and image):
            raise UsageError(f"--image is {name!r}; write it as NAME=IMAGE, such as kafka=our-kafka:4.1.")
    keys = {name: os.environ.get(name, "") for name in (ACCESS_KEY, SECRET_KEY)}  # noqa: TID251 - the edge
    missing = [name for name, value in keys.items() if not value]
    if s3_endpoint and missing:
        raise UsageError(
            f"--s3-endpoint is {s3_endpoint!r}, but {' and '.join(missing)} is not set: export the keys of that store."
        )
    return Site(
        kafka_bootstrap=kafka_bootstrap,
        s3_endpoint=s3_endpoint,
        s3_access_key=keys[ACCESS_KEY] if s3_endpoint else "",
        s3_secret_key=keys[SECRET_KEY] if s3_endpoint else "",
        kafka_login=login_of(os.environ) if kafka_bootstrap else NO_LOGIN,  # noqa: TID251 - the edge
        s3_location=location_of(os.environ) if s3_endpoint else OUR_LOCATION,  # noqa: TID251 - the edge
        spark_master=spark_master,
        images=named,
        allow_faults_on=frozenset(allow_faults_on),
    )


def settle(site: Site) -> None:
    """Say what the user said, before any system needs a service; for the whole process, the last call counts."""
    global _site
    _site = site


def settled() -> Site:
    """What the user said."""
    return _site


def named() -> Sites:
    """The same without what must be kept secret."""
    return Sites(
        kafka_bootstrap=_site.kafka_bootstrap,
        s3_endpoint=_site.s3_endpoint,
        spark_master=_site.spark_master,
        images=tuple(f"{name}={image}" for name, image in _site.images.items()),
        allow_faults_on=tuple(sorted(_site.allow_faults_on)),
    )


def settle_named(sites: Sites) -> None:
    """Say so again.

    Raises:
        UsageError: as `site_of`.
    """
    settle(site_of(sites.kafka_bootstrap, sites.s3_endpoint, sites.spark_master, sites.images, sites.allow_faults_on))


def service_provider() -> ServiceProvider | None:
    """Who provides brokers, object stores and clusters; None if nobody is installed."""
    found = entry_points.things("services").values()
    return next((cast("ServiceProvider", entry_points.made(each)) for each in found), None)


def services() -> Services:
    """Opened at the first call; the same ones until `close_services`.

    Raises:
        UsageError: nobody provides any, or the site contradicts itself.
    """
    global _services
    if _services is None:
        provider = service_provider()
        if provider is None:
            raise UsageError("no provider of services is registered under holdfast.services: install holdfast again.")
        try:
            _services = provider.open(_site)
        except ValueError as error:
            raise UsageError(str(error)) from error
    return _services


def require_reachable() -> None:
    """Ask each service that the user named whether it is there, before anything rests on it.

    Raises:
        UsageError: one is not, or nobody here can ask it; one sentence.
    """
    if not (_site.kafka_bootstrap or _site.s3_endpoint or _site.spark_master):
        return
    try:
        services().require_reachable()
    except (OSError, ValueError) as error:
        raise UsageError(str(error)) from error


def close_services() -> None:
    """End and remove what was started. Idempotent."""
    global _services
    opened, _services = _services, None
    if opened is not None:
        opened.close()


def abandoned_services() -> Sequence[str]:
    """What sessions left whose harness is gone."""
    provider = service_provider()
    return (*map(str, abandoned()), *(provider.leftovers() if provider is not None else ()))


def sweep_services() -> Sequence[str]:
    """End and remove it; what was done, one sentence each."""
    provider = service_provider()
    return provider.sweep() if provider is not None else ()


def installer() -> InstallsServices:
    """Who installs what services without Docker are made of.

    Raises:
        UsageError: there is none that installs anything.
    """
    provider = _installing()
    if provider is None:
        raise UsageError("no provider of services that can be installed is registered: install holdfast again.")
    return provider


def image_set(site: Site) -> ImageSet:
    """What services are started from, with the images that a site puts in place of ours.

    Raises:
        UsageError: nobody has any.
        ValueError: a site names an image that is not in the set.
    """
    provider: object = service_provider()
    if not isinstance(provider, BringsImages):
        raise UsageError("no provider of services that has images is registered: install holdfast again.")
    return provider.images(site.images)


def missing_parts() -> str:
    """The names of what is not installed; empty: nothing is missing, or nobody can install anything."""
    provider = _installing()
    return "" if provider is None else ", ".join(part.name for part in provider.parts() if not part.present)


def _installing() -> InstallsServices | None:
    provider: object = service_provider()
    return provider if isinstance(provider, InstallsServices) else None
