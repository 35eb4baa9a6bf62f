"""Archived classes: each role and version has an archive of its own, which is used once it is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.fixtures.services.processes.installation import missing_java
from holdfast.fixtures.systems.flink import place as flink_place
from holdfast.fixtures.systems.flink.place import ClassArchive
from holdfast.suites.selfcheck.started import Started


@pytest.fixture
def class_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if reason := missing_java():
        pytest.skip(reason)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.usefixtures("class_cache")
def test_each_role_and_each_version_has_its_own() -> None:
    paths = {
        ClassArchive(Path(jars), Path("/job.jar"), role).path
        for jars in ("/flink-1", "/flink-2")
        for role in ("a", "b")
    }
    assert len(paths) == 4


@pytest.mark.usefixtures("class_cache")
def test_it_is_used_once_it_is_there() -> None:
    archive = ClassArchive(Path("/flink-1"), Path("/job.jar"), "taskmanager")
    assert "-XX:+RecordDynamicDumpInfo" in archive.options
    archive.path.parent.mkdir(parents=True, exist_ok=True)
    archive.path.touch()
    assert f"-XX:SharedArchiveFile={archive.path}" in archive.options


@pytest.mark.usefixtures("class_cache")
@pytest.mark.nightly
def test_of_a_process_that_is_no_java_none_is_made_and_nothing_is_left() -> None:
    archive = ClassArchive(Path("/flink-1"), Path("/job.jar"), "taskmanager")
    with Started("sleep", "60") as other:
        archive.make(other.pid)
    assert not archive.path.exists()
    assert list(archive.path.parent.glob("flink-*")) == []


@pytest.mark.usefixtures("class_cache")
def test_one_that_was_cut_off_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = ClassArchive(Path("/flink-1"), Path("/job.jar"), "taskmanager")
    archive.path.parent.mkdir(parents=True, exist_ok=True)
    jcmd = tmp_path / "jcmd"
    jcmd.write_text('#!/bin/sh\necho half > "$4"\nexit 1\n')
    jcmd.chmod(0o755)
    monkeypatch.setattr(flink_place, "tool_of_java", lambda name: str(jcmd))
    archive.make(1)
    assert not archive.path.exists()
    assert list(archive.path.parent.glob("flink-*")) == []
