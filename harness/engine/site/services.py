"""The site of this process: what the user stated about services, those that were opened, and the credentials for
existing services: from the environment, because every user of the machine can read a command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.site import entry_points
from holdfast.harness.lease import abandoned
from holdfast.harness.spi.outside_files import read_outside
from holdfast.harness.spi.service import (
    NO_LOGIN,
    OUR_LOCATION,
    BringsImages,
    ImageSet,
    InstallsServices,
    Login,
    ServiceProvider,
    Services,
    Site,
    StoreLocation,
)

_KAFKA, _S3 = "HOLDFAST_KAFKA_", "HOLDFAST_S3_"
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_SSL", "SASL_PLAINTEXT")
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
STYLES = ("path", "virtual-host")
_PLAIN_KEY = "-----BEGIN PRIVATE KEY-----"
"""Begins a key in PKCS#8, without a password."""


def login_of(environment: Mapping[str, str]) -> Login:
    """For brokers.

    Args:
        environment: variables of this process.

    Raises:
        UsageError: a value cannot be used, or is missing; one sentence.
    """
    protocol = _one_of(environment, f"{_KAFKA}SECURITY_PROTOCOL", PROTOCOLS)
    sasl = protocol.startswith("SASL_")
    mechanism = _one_of(environment, f"{_KAFKA}SASL_MECHANISM", MECHANISMS) if sasl else ""
    username, password = (environment.get(f"{_KAFKA}{name}", "") if sasl else "" for name in ("USERNAME", "PASSWORD"))
    for name, value in (("USERNAME", username), ("PASSWORD", password)):
        if sasl and not value:
            raise UsageError(f"{_KAFKA}SECURITY_PROTOCOL is {protocol}, but {_KAFKA}{name} is not set: export it.")
    encrypted = protocol.endswith("SSL")
    authority, certificate, key = (
        _file(environment, f"{_KAFKA}{name}") if encrypted else "" for name in ("CA", "CERTIFICATE", "KEY")
    )
    if bool(certificate) != bool(key):
        raise UsageError(f"{_KAFKA}CERTIFICATE and {_KAFKA}KEY belong together: export both, or neither.")
    if key and _PLAIN_KEY.encode() not in read_outside(Path(key), follow=True):
        raise UsageError(
            f"{_KAFKA}KEY is {key!r}, without a line {_PLAIN_KEY}, and clients in Java read no other key: convert it "
            "with openssl pkcs8 -topk8 -nocrypt."
        )
    return Login(
        protocol="" if protocol == PROTOCOLS[0] else protocol,
        mechanism=mechanism,
        username=username,
        password=password,
        authority=authority,
        certificate=certificate,
        key=key,
    )


def location_of(environment: Mapping[str, str]) -> StoreLocation:
    """In an object store.

    Args:
        environment: variables of this process.

    Raises:
        UsageError: a value cannot be used; one sentence.
    """
    bucket, prefix = (environment.get(f"{_S3}{name}", "") for name in ("BUCKET", "PREFIX"))
    if "/" in bucket:
        raise UsageError(f"{_S3}BUCKET is {bucket!r}: write the name alone, and what follows it in {_S3}PREFIX.")
    folder = prefix.strip("/")
    return StoreLocation(
        bucket=bucket,
        prefix=f"{folder}/" if folder else "",
        region=environment.get(f"{_S3}REGION", "") or OUR_LOCATION.region,
        virtual_hosts=_one_of(environment, f"{_S3}STYLE", STYLES) == STYLES[1],
    )


def _one_of(environment: Mapping[str, str], name: str, allowed: tuple[str, ...]) -> str:
    """A value; the first of those that are allowed where there is none."""
    value = environment.get(name, "") or allowed[0]
    if value not in allowed:
        raise UsageError(f"{name} is {value!r}: use one of {', '.join(allowed)}.")
    return value


def _file(environment: Mapping[str, str], name: str) -> str:
    path = environment.get(name, "")
    if path and not Path(path).is_file():
        raise UsageError(f"{name} is {path!r}, and there is no such file: export the path of a PEM file.")
    return str(Path(path).absolute()) if path else ""


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
    """Set the site that the user stated, before any system needs a service; for the process, the last call counts."""
    global _site
    _site = site


def chosen_site() -> Site:
    """The site that the user stated."""
    return _site


def named() -> Sites:
    """The site that the user stated, without keys and passwords."""
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
    """The provider of brokers, object stores and clusters; None if none is installed."""
    found = entry_points.load_all("services").values()
    return next((cast("ServiceProvider", entry_points.instantiated(each)) for each in found), None)


def services() -> Services:
    """Opened at the first call; the same ones until `close_services`.

    Raises:
        UsageError: no provider is installed, or the site contradicts itself.
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
    """Connect to each service that the user named, before anything rests on it.

    Raises:
        UsageError: one does not answer, or no client for it is installed; one sentence.
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
    """The installer of the parts of services without Docker.

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
        UsageError: no provider of images is installed.
        ValueError: a site names an image that is not in the set.
    """
    provider: object = service_provider()
    if not isinstance(provider, BringsImages):
        raise UsageError("no provider of services that has images is registered: install holdfast again.")
    return provider.images(site.images)


def missing_parts() -> str:
    """The names of what is not installed, and is not optional; empty: nothing is missing, or no installer is there."""
    provider = _installing()
    parts = () if provider is None else provider.parts()
    return ", ".join(part.name for part in parts if not (part.present or part.optional))


def _installing() -> InstallsServices | None:
    provider: object = service_provider()
    return provider if isinstance(provider, InstallsServices) else None
