"""Files for the CI of others name the Python that is tested here: the oldest one that the project allows."""

from __future__ import annotations

import re
from importlib.metadata import metadata
from pathlib import Path

import pytest

from holdfast.harness.engine.site import registry
from holdfast.harness.model.distribution import DISTRIBUTION
from holdfast.suites.selfcheck.certify.written import written

OLDEST = metadata(DISTRIBUTION)["Requires-Python"].removeprefix(">=")
PYTHON = re.compile(r'python-version: "([^"]*)"')


@pytest.mark.parametrize("kind", registry.scaffolds())
def test_what_new_writes(kind: str, tmp_path: Path) -> None:
    [file] = written(kind, tmp_path).glob(".github/workflows/*.yml")
    assert PYTHON.findall(file.read_text()) == [OLDEST]
