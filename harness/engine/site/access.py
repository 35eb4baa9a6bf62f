"""How services of others let us in: read from the environment, because what is typed can be read by everybody."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.harness.engine.errors import UsageError
from holdfast.harness.spi.outside_files import read_outside
from holdfast.harness.spi.service import OUR_LOCATION, Login, StoreLocation

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
