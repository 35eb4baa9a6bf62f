"""Folders of the system's temporary place are leases, so that a sweep finds them; every other is listed here."""

from __future__ import annotations

import ast
from importlib.resources import files
from pathlib import Path

MAKERS = {"mkdtemp", "TemporaryDirectory", "mkstemp", "NamedTemporaryFile"}
EXCEPTIONS = {
    "harness/lease.py": "the one place that makes them",
    "fixtures/images/debian.py": "debootstrap mounts in it, and no sweep goes through a mount",
    "fixtures/images/archive_spark_classes.py": "runs where an image is built, without Holdfast",
}


def makes_one(path: Path) -> bool:
    """Whether a file makes a temporary folder or file in no folder of its own (`dir=`)."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    names = [call for call in calls if getattr(call.func, "id", getattr(call.func, "attr", "")) in MAKERS]
    return any("dir" not in {word.arg for word in call.keywords} for call in names)


def test_temporary_folders_are_leases() -> None:
    root = Path(str(files("holdfast.harness"))).parent
    found = {
        str(path.relative_to(root))
        for folder in ("harness", "faults", "fixtures", "reports", "suites/certify")
        for path in sorted((root / folder).rglob("*.py"))
        if "scaffolds" not in path.parts and makes_one(path)
    }
    assert found == EXCEPTIONS.keys(), "use harness.lease.Lease"


def test_one_beside_them_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    for text, seen in {
        "with tempfile.TemporaryDirectory(prefix='x-') as folder: ...": True,
        "made = mkdtemp()": True,
        "made = mkdtemp(dir=target.parent)": False,
        "with Lease('x') as folder: ...": False,
    }.items():
        file.write_text(text)
        assert makes_one(file) is seen, text
