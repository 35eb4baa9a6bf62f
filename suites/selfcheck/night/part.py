"""A plugin of pytest: of the tests that are left, those of one part of several. A test is always in the same part.

pytest -p holdfast.suites.selfcheck.night.part --part 2/3 ...
"""

from __future__ import annotations

from zlib import crc32

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part", metavar="K/N", default="0/1", help="of N parts of the tests, that of number K, from 0 on"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    text: str = config.getoption("--part")
    number, _, parts = text.partition("/")
    if not (number.isdigit() and parts.isdigit() and int(number) < int(parts)):
        raise pytest.UsageError(f"--part {text} is no part: write K/N with K from 0 and below N, such as 2/3.")
    kept = [item for item in items if crc32(item.nodeid.encode()) % int(parts) == int(number)]
    if len(kept) < len(items):
        chosen = frozenset(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = kept
