"""The services of these cases end with the last of them: even an idle broker takes its share of the processor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.harness.engine.site.services import close_services


@pytest.fixture(scope="package", autouse=True)
def no_services_are_left() -> Iterator[None]:
    yield
    close_services()
