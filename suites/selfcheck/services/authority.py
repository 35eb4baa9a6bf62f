"""An authority for certificates that hold for a day."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

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
