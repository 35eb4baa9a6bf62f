"""A list of paths that has no way to quote them refuses a path that it would cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.harness.spi.errors import UnusableSystem
from holdfast.harness.spi.surroundings import class_path


def test_java_finds_each_entry_or_is_not_started() -> None:
    """A job in such a folder was not found, and classes of another folder were."""
    assert class_path([Path("/a b/job.jar"), "/c/*", ""]) == "/a b/job.jar:/c/*"
    with pytest.raises(UnusableSystem, match=r"'/a:b/job.jar' is to be on the class path of Java, and ':' in its name"):
        class_path([Path("/a:b/job.jar")])
