"""Folders of the system's temporary place are leases, so that a sweep finds them; every other is listed here."""

from __future__ import annotations

import ast

import pytest

from holdfast.suites.selfcheck.source_files import files_with

MAKERS = {"mkdtemp", "TemporaryDirectory", "mkstemp", "NamedTemporaryFile"}
EXCEPTIONS = {
    "harness/lease.py": "the one place that makes them",
    "fixtures/images/debian.py": "debootstrap mounts in it, and no sweep goes through a mount",
    "fixtures/images/archive_spark_classes.py": "runs where an image is built, without Holdfast",
}


def makes_one(source: str) -> bool:
    """Whether a source makes a temporary folder or file in no folder of its own (`dir=`)."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    names = [call for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) in MAKERS]
    return any("dir" not in {word.arg for word in call.keywords} for call in names)


def test_temporary_folders_are_leases() -> None:
    folders = ("harness", "faults", "fixtures", "reports", "suites/certify")
    found = files_with(makes_one, *folders, but_for=("suites/certify/scaffolds/",))
    assert found == EXCEPTIONS.keys(), "use harness.lease.Lease"


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("with tempfile.TemporaryDirectory(prefix='x-') as folder: ...", True),
        ("made = mkdtemp()", True),
        ("made = mkdtemp(dir=target.parent)", False),
        ("with Lease('x') as folder: ...", False),
    ],
)
def test_one_beside_them_is_seen(source: str, seen: bool) -> None:
    assert makes_one(source) is seen
