"""A plugin of pytest: of the tests that are left, those of one part of several. A test is always in the same part.

pytest -p holdfast.suites.selfcheck.night.part --part 2/3 ...
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from zlib import crc32

import pytest

from holdfast.suites.bench import part


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part", metavar="K/N", default="0/1", help="of N parts of the tests, that of number K, from 0 on"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    try:
        number, parts = part(config.getoption("--part"))
    except ArgumentTypeError as error:
        raise pytest.UsageError(f"--part {error}") from error
    kept = [item for item in items if crc32(item.nodeid.encode()) % parts == number]
    if len(kept) < len(items):
        chosen = frozenset(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept
