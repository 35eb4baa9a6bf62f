"""A broker that lets in who knows a password, over TLS, with certificates made on the spot."""

from __future__ import annotations

import subprocess
from pathlib import Path

from confluent_kafka.admin import AdminClient, ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from holdfast.fixtures.services.ports import LOOPBACK, free_port
from holdfast.fixtures.services.processes.broker import KafkaProcess
from holdfast.fixtures.services.processes.session import Session
from holdfast.harness.spi.service import Login

USERNAME, PASSWORD = "team", 'it is "secret"'
_ITERATIONS = 4096
_ANSWER_S = 30.0


class SecuredBroker(KafkaProcess):
    """Those who come through the link find TLS and SCRAM-SHA-512; there is no link.

    Attributes:
        authority: path of the certificate that its own is signed with.
        secured: `host:port` of that listener.
    """

    def __init__(self, session: Session, folder: Path) -> None:
        port = free_port()
        self.secured = f"{LOOPBACK}:{port}"
        super().__init__(session, port, self.secured)
        self.authority, server = certificates(folder)
        listener = "listener.name.proxied"
        self._settings += "\n" + "\n".join(
            (
                "listener.security.protocol.map=INTERNAL:PLAINTEXT,PROXIED:SASL_SSL,CONTROLLER:PLAINTEXT",
                f"{listener}.sasl.enabled.mechanisms=SCRAM-SHA-512",
                f"{listener}.scram-sha-512.sasl.jaas.config="
                "org.apache.kafka.common.security.scram.ScramLoginModule required;",
                f"{listener}.ssl.keystore.type=PEM",
                f"{listener}.ssl.keystore.location={server}",
            )
        )

    def start(self) -> None:
        super().start()
        admin = AdminClient({"bootstrap.servers": self.external, "log_level": 0})
        how = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, _ITERATIONS)
        known = UserScramCredentialUpsertion(USERNAME, how, PASSWORD.encode())
        for future in admin.alter_user_scram_credentials([known]).values():
            future.result(_ANSWER_S)

    def access(self, password: str = PASSWORD) -> Login:
        """What its clients need."""
        return Login(
            protocol="SASL_SSL",
            mechanism="SCRAM-SHA-512",
            username=USERNAME,
            password=password,
            authority=str(self.authority),
        )


def certificates(folder: Path) -> tuple[Path, Path]:
    """An authority, and a file with the key and the certificate of a server on the loopback address."""
    authority, authority_key = folder / "authority.pem", folder / "authority.key"
    key, request, certificate, names = (folder / f"server.{each}" for each in ("key", "csr", "crt", "names"))
    names.write_text(f"subjectAltName=IP:{LOOPBACK}\n")
    new = ("req", "-newkey", "rsa:2048", "-nodes", "-days", "1")
    _openssl(*new, "-x509", "-keyout", authority_key, "-out", authority, "-subj", "/CN=authority")
    _openssl(*new[:-2], "-keyout", key, "-out", request, "-subj", "/CN=server")
    signing = ("-CA", authority, "-CAkey", authority_key, "-CAcreateserial", "-days", "1", "-extfile", names)
    _openssl("x509", "-req", "-in", request, *signing, "-out", certificate)
    server = folder / "server.pem"
    server.write_text(key.read_text() + certificate.read_text())
    return authority, server


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
