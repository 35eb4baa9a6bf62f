"""Services: what systems need around them, such as a broker and an object store, the images that they are started from,
and who provides both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from holdfast.harness.spi.offered import Offered


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """How brokers let clients in. Empty: whoever comes.

    Attributes:
        protocol: as Kafka names it: `SSL`, `SASL_SSL`, `SASL_PLAINTEXT`.
        mechanism: of SASL, such as `SCRAM-SHA-512` or `PLAIN`.
        username, password: for it; the password is never shown.
        authority: path of a PEM file with the certificates that are trusted; empty: those of the machine.
        certificate, key: paths of PEM files by which a client proves who it is; empty: it does not.
    """

    protocol: str = ""
    mechanism: str = ""
    username: str = ""
    password: str = ""
    authority: str = ""
    certificate: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Login(protocol={self.protocol!r}, ***)"


NO_LOGIN = Login()


class StoreLocation(msgspec.Struct, frozen=True, kw_only=True):
    """Where in an object store runs have their objects, and how they are addressed.

    Attributes:
        bucket: exists already; empty: one of ours, which is made.
        prefix: what all names begin with; empty, or ends with a slash.
        region: that requests are signed for.
        virtual_hosts: the bucket is part of the host name, and not of the path.
    """

    bucket: str = ""
    prefix: str = ""
    region: str = "us-east-1"
    virtual_hosts: bool = False


OUR_LOCATION = StoreLocation()


class Site(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """What the user states about the place where systems run. Empty: containers of our own.

    Attributes:
        kafka_bootstrap: address of brokers that exist already, `host:port`.
        s3_endpoint: URL of an object store that exists already.
        s3_access_key, s3_secret_key: for it; never shown.
        kafka_login: for the brokers.
        s3_location: in the store.
        spark_master: URL of a Spark cluster that exists already, `spark://host:port`.
        images: by name of an image (`kafka`, `object-store`, `toxiproxy`, `spark`, `database`, `queues`), the one
            in its place.
        allow_faults_on: names of existing services that faults may act on (`kafka`, `object-store`, `spark`).
    """

    kafka_bootstrap: str = ""
    s3_endpoint: str = ""
    s3_access_key: str = ""
    s3_secret_key: str = ""
    kafka_login: Login = NO_LOGIN
    s3_location: StoreLocation = OUR_LOCATION
    spark_master: str = ""
    images: Mapping[str, str] = {}
    allow_faults_on: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """Without the keys."""
        shown = ("kafka_bootstrap", "s3_endpoint", "s3_location", "spark_master", "images", "allow_faults_on")
        return f"Site({', '.join(f'{name}={getattr(self, name)!r}' for name in shown if self._said(name))})"

    def _said(self, name: str) -> bool:
        return getattr(self, name) not in ("", {}, frozenset(), OUR_LOCATION)


class Services(Protocol):
    """The services of one session. Each starts when it is first needed, and lives until `close`.

    What they offer beyond this is between them and the systems that were written for them.
    """

    def require_reachable(self) -> None:
        """Ask each service that exists already whether it is there; start nothing.

        Raises:
            OSError: one does not answer, or does not let us in; one sentence.
            ValueError: its address is none; one sentence.
        """

    def save_logs(self, folder: Path) -> None:
        """Write the log of every service that was started into a folder."""

    def close(self) -> None:
        """End and remove everything that was started. Safe to call twice."""


class ServiceProvider(Protocol):
    """Registered under `holdfast.services`."""

    def open(self, site: Site) -> Services:
        """Services of one session; nothing is started yet.

        Raises:
            ValueError: the site contradicts itself; one sentence.
        """

    def leftovers(self) -> Sequence[str]:
        """What sessions left whose harness is gone; empty too where that cannot be found out."""

    def sweep(self) -> Sequence[str]:
        """End and remove it; what was done, one sentence each."""


class Part(msgspec.Struct, frozen=True):
    """Something that services need on this machine to run there as plain processes.

    Attributes:
        name: of it.
        place: where it is, or is to be.
        present: it is there, whole.
        unchanged: what is there is what was put there; None: not checked.
        version: of it; empty: it has none of its own.
        optional: it is installed when it is named, and not with all others.
    """

    name: str
    place: Path
    present: bool
    unchanged: bool | None = None
    version: str = ""
    optional: bool = False

    def of_version(self, name: str, version: str) -> bool:
        """Whether it is what somebody means by a name and a version, or the beginning of one; empty: any."""
        return self.name.partition("-")[0] == name and f"{self.version}.".startswith(version and f"{version}.")


@runtime_checkable
class InstallsServices(Protocol, metaclass=Offered):
    """What a provider may have beside ServiceProvider: services that run as plain processes once they are installed."""

    def parts(self, *, verify: bool = False) -> Sequence[Part]:
        """What belongs to them, and whether it is there.

        Args:
            verify: also compare what is there with what was put there.
        """

    def install(self, names: Sequence[str], say: Callable[[str, str], None]) -> Mapping[str, float]:
        """Fetch what is missing; the seconds that each took, without what was there.

        Args:
            names: of parts; empty: all that are not optional.
            say: called with what is being done, as name of the part and line.

        Raises:
            ValueError: an unknown name; one sentence.
            OSError: a tool is missing, or failed: one sentence and the last lines that it wrote.
        """


@runtime_checkable
class NeedsServices(Protocol, metaclass=Offered):
    """What an adapter may have beside System: it learns how to get services, before its first deployment."""

    def attach(self, services: Callable[[], Services]) -> None:
        """
        Args:
            services: opens the services of this session at the first call, and hands out the same ones from then on.
        """


class Image(msgspec.Struct, frozen=True):
    """One image of a set.

    Attributes:
        name: what it is for.
        reference: what the daemon calls it.
        given: the user named it, so it is never built.
        present: the daemon has it.
    """

    name: str
    reference: str
    given: bool
    present: bool


class ImageSet(Protocol):
    """What services are started from.

    Attributes:
        names: of all images, in the order in which they can be built.
        bases: ways to get the first one; the first is the default.
    """

    names: Sequence[str]
    bases: Sequence[str]

    def check(self) -> Sequence[Image]:
        """What is there and what is not, in the order of names.

        Raises:
            OSError: no daemon answers; one sentence.
        """

    def build(self, names: Sequence[str], base: str, say: Callable[[str, str], None]) -> Mapping[str, float]:
        """Build those that are missing, and what they need; the seconds that each took, without what was there.

        Args:
            names: of images; empty: all.
            base: one of `bases`.
            say: called with what is being done, as name of the image and line; `Step k/n : ...` where a step begins,
                and `Successfully tagged ...` at the end.

        Raises:
            ValueError: an unknown name or base; one sentence.
            OSError: no daemon answers, or a build failed: one sentence and the last lines that the build wrote.
        """


@runtime_checkable
class BringsImages(Protocol, metaclass=Offered):
    """What a provider of services may have beside spi.service.ServiceProvider, whose services run in containers."""

    def images(self, given: Mapping[str, str]) -> ImageSet:
        """
        Args:
            given: by name, the images that a site puts in place of its own.

        Raises:
            ValueError: a name is not in the set, or what builds images is not installed; one sentence.
        """
