"""One stack for all tests of this room that only use it; what starts anything of its own, closes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from holdfast.fixtures.services.provider import SiteServices
from holdfast.harness.spi.service import Site

if TYPE_CHECKING:
    from holdfast.fixtures.services.container import Container
    from holdfast.fixtures.services.stack import Stack


@pytest.fixture(scope="module")
def services() -> Iterator[SiteServices]:
    """Of this machine, opened as they are used."""
    with closing(SiteServices(Site())) as opened:
        yield opened


@pytest.fixture(scope="package")
def stack() -> Iterator[Stack]:
    from holdfast.fixtures.services.stack import Stack

    with closing(Stack()) as stack:
        yield stack


@pytest.fixture(scope="package")
def probe(stack: Stack) -> Container:
    """A container on the network, where programs of the tests run."""
    return stack.run_driver(["sleep", "infinity"], name="probe")
