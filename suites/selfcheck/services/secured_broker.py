"""Brokers that want to know who comes: by a password, or by a certificate, over TLS, with certificates made here."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from holdfast.fixtures.services.ports import LOOPBACK, free_port
from holdfast.fixtures.services.processes.broker import KafkaProcess
from holdfast.fixtures.services.processes.own_process import Session
from holdfast.harness.spi.service import Login

_NEW = ("req", "-newkey", "rsa:2048", "-nodes")


class Issued(NamedTuple):
    """Files with a key and its certificate."""

    key: Path
    certificate: Path


class Authority:
    """
    Args:
        folder: existing; takes all files.

    Attributes:
        certificate: of itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.certificate, self._key = folder / "authority.pem", folder / "authority.key"
        _openssl(*_NEW, "-x509", "-days", "1", "-keyout", self._key, "-out", self.certificate, "-subj", "/CN=authority")

    def issue(self, name: str, known_as: str = "") -> Issued:
        """A certificate.

        Args:
            name: of whom it is for.
            known_as: where that one is reached, such as `IP:127.0.0.1`; empty: nowhere.
        """
        key, request, certificate, names = (self._folder / f"{name}.{each}" for each in ("key", "csr", "crt", "names"))
        names.write_text(f"subjectAltName={known_as}\n" if known_as else "")
        _openssl(*_NEW, "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        signed = ("-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial", "-days", "1", "-extfile", names)
        _openssl("x509", "-req", "-in", request, *signed, "-out", certificate)
        return Issued(key, certificate)


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


USERNAME, PASSWORD = "team", 'it is "secret"'
_ITERATIONS = 4096
_ANSWER_S = 30.0
_LISTENER = "listener.name.proxied"


class SecuredBroker(KafkaProcess):
    """Those who come through the link find TLS; there is no link.

    Attributes:
        authority: that its own certificate is signed by.
        secured: `host:port` of that listener.
    """

    protocol: str
    """As Kafka names it."""

    def __init__(self, session: Session, folder: Path) -> None:
        port = free_port()
        self.secured = f"{LOOPBACK}:{port}"
        super().__init__(session, port, self.secured)
        self.authority = Authority(folder)
        server = self.authority.issue("server", f"IP:{LOOPBACK}")
        kept = folder / "server.pem"
        kept.write_text(server.key.read_text() + server.certificate.read_text())
        names = {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(kept),
            **self._wanted(),
        }
        lines = [
            f"listener.security.protocol.map=INTERNAL:PLAINTEXT,PROXIED:{self.protocol},CONTROLLER:PLAINTEXT",
            *(f"{_LISTENER}.{name}={value}" for name, value in names.items()),
        ]
        self._settings += "\n" + "\n".join(lines)

    def access(self) -> Login:
        """What its clients need."""
        raise NotImplementedError

    def _wanted(self) -> dict[str, str]:
        """By name, the settings of the listener that say whom it lets in."""
        raise NotImplementedError


class PasswordBroker(SecuredBroker):
    """It lets in who knows a password, by SCRAM-SHA-512."""

    protocol = "SASL_SSL"

    def start(self) -> None:
        super().start()
        admin = AdminClient({"bootstrap.servers": self.external, "log_level": 0})
        how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, _ITERATIONS)
        known = UserScramCredentialUpsertion(USERNAME, how, PASSWORD.encode())
        for future in admin.alter_user_scram_credentials([known]).values():
            future.result(_ANSWER_S)

    def access(self, password: str = PASSWORD) -> Login:
        return Login(
            protocol=self.protocol,
            mechanism="SCRAM-SHA-512",
            username=USERNAME,
            password=password,
            authority=str(self.authority.certificate),
        )

    def _wanted(self) -> dict[str, str]:
        return {
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
        }


class CertificateBroker(SecuredBroker):
    """It lets in who has a certificate of its authority."""

    protocol = "SSL"

    def access(self, by: Authority | None = None) -> Login:
        """
        Args:
            by: whose certificate the client has; None: one of the broker's own authority.
        """
        client = (by or self.authority).issue("client")
        return Login(
            protocol=self.protocol,
            authority=str(self.authority.certificate),
            certificate=str(client.certificate),
            key=str(client.key),
        )

    def _wanted(self) -> dict[str, str]:
        return {
            "ssl.client.auth": "required",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.certificate),
        }
