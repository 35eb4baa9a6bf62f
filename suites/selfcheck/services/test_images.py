"""`holdfast images`: what is there, what cannot be built, and tags that are the hash of everything in an image."""

from __future__ import annotations

import gc
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from uuid import uuid4

import msgspec
import pytest

from holdfast.fixtures.images.recipe import (
    BASE,
    Recipe,
    jars_of_tables,
    proxy_arguments,
    recipes,
    site_files,
)
from holdfast.fixtures.images.spark_releases import spark_releases
from holdfast.harness import cli
from holdfast.harness.commands import services as commands
from holdfast.harness.spi.service import Image
from holdfast.suites.selfcheck.services.listener import becomes
from holdfast.suites.selfcheck.started import Started

NOWHERE = ("tcp://127.0.0.1:1", "unix:///nobody/listens.sock")


class Scripted:
    """An image set that has, builds and refuses what a test says."""

    names: Sequence[str] = ("base", "kafka")
    bases: Sequence[str] = ("pull",)

    def __init__(self, present: set[str], refusal: str = "") -> None:
        self.present = present
        self.given: Mapping[str, str] = {}
        self._refusal = refusal

    def __call__(self, given: Mapping[str, str]) -> Scripted:
        self.given = given
        return self

    def check(self) -> Sequence[Image]:
        return [Image(name, f"ours/{name}:1", name in self.given, name in self.present) for name in self.names]

    def build(self, names: Sequence[str], base: str, say: Callable[[str, str], None]) -> Mapping[str, float]:
        if self._refusal:
            raise OSError(self._refusal)
        missing = [name for name in names or self.names if name not in self.present]
        for name in missing:
            say(name, f"from {base}")
        self.present.update(missing)
        return dict.fromkeys(missing, 2.0)


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Scripted], Scripted]:
    def register(images: Scripted) -> Scripted:
        monkeypatch.setattr(commands, "image_set", lambda site: images(site.images))
        return images

    return register


def test_check_tells_what_is_missing(offer: Callable[[Scripted], Scripted], capsys: pytest.CaptureFixture[str]) -> None:
    offer(Scripted({"base"}))
    assert cli.execute(["images", "check"]) == 3
    assert capsys.readouterr().out.split() == ["present", "base", "ours/base:1", "missing", "kafka", "ours/kafka:1"]


def test_build_builds_what_is_missing_and_check_agrees(
    offer: Callable[[Scripted], Scripted], capsys: pytest.CaptureFixture[str]
) -> None:
    offer(Scripted({"base"}))
    assert cli.execute(["images", "build"]) == 0
    assert "ours/kafka:1 in 2 s" in capsys.readouterr().out
    assert cli.execute(["images", "check"]) == 0


def test_given_images_reach_the_set(offer: Callable[[Scripted], Scripted]) -> None:
    images = offer(Scripted({"base", "kafka"}))
    assert cli.execute(["images", "check", "--image", "kafka=their/kafka:4"]) == 0
    assert images.given == {"kafka": "their/kafka:4"}


def test_a_build_that_fails_is_one_complaint(
    offer: Callable[[Scripted], Scripted], capsys: pytest.CaptureFixture[str]
) -> None:
    offer(Scripted(set(), "image 'kafka' cannot be built"))
    assert cli.execute(["images", "build"]) == 3
    assert capsys.readouterr().err == "holdfast: image 'kafka' cannot be built\n"


@pytest.mark.parametrize("address", NOWHERE)
def test_no_daemon_is_one_sentence(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("docker")
    monkeypatch.setenv("DOCKER_HOST", address)
    assert cli.execute(["images", "check"]) == 3
    gc.collect()  # a socket left open would warn here, and warnings are errors
    assert capsys.readouterr().err.startswith("holdfast: no Docker daemon responds: install Docker")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["check", "--image", "kafka"], "--image is 'kafka'"),
        (["check", "--image", "kavka=x"], "image 'kavka' is unknown; known are base"),
        (["build", "kavka"], "unknown image 'kavka'; known: base"),
        (["build", "--base", "gentoo"], "unknown base 'gentoo'; known: debootstrap, pull"),
    ],
)
def test_wrong_usage_is_one_sentence(
    arguments: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("docker")
    monkeypatch.setenv("DOCKER_HOST", NOWHERE[0])
    assert cli.execute(["images", *arguments]) == 3
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


@pytest.mark.tier("containers")
def test_a_broken_recipe_is_told_with_the_end_of_its_build() -> None:
    from holdfast.fixtures.images.builder import build
    from holdfast.fixtures.images.recipe import Recipe, recipes

    dockerfile = b"ARG BASE\nFROM ${BASE}\nRUN echo a word in parting && false\n"
    broken = Recipe("broken", {"Dockerfile": dockerfile, "enter.sh": b""}, {"BASE": recipes()["base"].tag})
    with pytest.raises(OSError, match="image 'broken' cannot be built") as raised:
        build(broken, lambda line: None)
    assert "a word in parting" in str(raised.value)
    assert "non-zero code: 1" in str(raised.value)


BUILD_S = 120
"""A build that nobody ends goes on for no longer."""
SEEN_LIMIT_S = 30.0
INTERRUPTED = """
import signal, sys
from holdfast.fixtures.images import builder
from holdfast.fixtures.images.recipe import Recipe, recipes
signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background jobs inherit that it is ignored.
dockerfile = "ARG BASE\\nFROM ${BASE}\\nRUN echo begun && " + sys.argv[1] + "\\n"
recipe = Recipe("endless", {"Dockerfile": dockerfile.encode()}, {"BASE": recipes()["base"].tag})
builder.recipes = lambda base: {"base": recipes()["base"], "endless": recipe}
builder._LONGEST_FIRST = ("endless",)
builder.Images({}).build([], "pull", lambda name, line: print(line, flush=True))
"""


@pytest.mark.tier("containers")
def test_an_interrupt_ends_the_builds() -> None:
    with build_without_end() as (process, command):
        assert process.stdout is not None
        assert any(line == "begun\n" for line in process.stdout)
        # A container may speak before the daemon lists it.
        assert becomes(lambda: bool(containers_of(command)), SEEN_LIMIT_S)
        process.send_signal(signal.SIGINT)
        process.wait(SEEN_LIMIT_S)
        assert becomes(lambda: not containers_of(command), SEEN_LIMIT_S), "the daemon goes on building"


@pytest.mark.tier("containers")
def test_a_test_that_fails_amid_a_build_leaves_nothing() -> None:
    with ExitStack() as stack:
        process, command = stack.enter_context(build_without_end())
        assert process.stdout is not None
        assert any(line == "begun\n" for line in process.stdout)
    assert process.returncode == -signal.SIGKILL
    assert process.stdout.closed
    assert not containers_of(command)


@contextmanager
def build_without_end() -> Iterator[tuple[Started, str]]:
    """A process that builds an image, and the command in its container, which is that of no other build. However a test
    ends, neither process nor container is left."""
    command = f"sleep {BUILD_S} && : {uuid4().hex}"
    with Started.python(INTERRUPTED, command, stderr=subprocess.DEVNULL) as process:
        try:
            yield process, command
        finally:
            process.kill()
            process.wait(SEEN_LIMIT_S)
            becomes(lambda: not containers_of(command), SEEN_LIMIT_S)  # By itself, as its client is gone.
            remove_containers(command)


def containers_of(command: str) -> list[str]:
    """The ids of all containers with this in their command, whatever state they are in."""
    from holdfast.fixtures.images.daemon import connected

    with connected() as client:
        there = client.containers.list(all=True, ignore_removed=True)
        return [each.id for each in there if command in str(each.attrs["Config"]["Cmd"])]


def remove_containers(command: str) -> None:
    from docker.errors import APIError

    from holdfast.fixtures.images.daemon import connected

    with connected() as client:
        for identity in containers_of(command):
            with suppress(APIError):  # It went by itself.
                client.containers.get(identity).remove(force=True)


RECIPE = Recipe("one", {"Dockerfile": b"FROM x", "other": b"1"}, {"JAVA": "21"})


@pytest.mark.parametrize(
    "other",
    [
        msgspec.structs.replace(RECIPE, name="two"),
        msgspec.structs.replace(RECIPE, files={"Dockerfile": b"FROM y", "other": b"1"}),
        msgspec.structs.replace(RECIPE, files={"Dockerfile": b"FROM x", "another": b"1"}),
        msgspec.structs.replace(RECIPE, files={"Dockerfile": b"FROM x"}),
        msgspec.structs.replace(RECIPE, arguments={"JAVA": "25"}),
        msgspec.structs.replace(RECIPE, arguments={"JAV": "A21"}),
    ],
    ids=["name", "content", "file name", "fewer files", "argument", "boundary of an argument"],
)
def test_every_input_makes_another_tag(other: Recipe) -> None:
    assert other.tag.partition(":")[2] != RECIPE.tag.partition(":")[2]


def test_order_of_inputs_makes_no_other_tag() -> None:
    turned = Recipe("one", dict(reversed(list(RECIPE.files.items()))), RECIPE.arguments)
    assert turned.tag == RECIPE.tag


def test_another_base_makes_other_tags() -> None:
    ours, other = recipes(), recipes("debian:site")
    assert all(ours[name].tag != other[name].tag for name in ours if name != BASE)
    assert ours[BASE].tag == other[BASE].tag


def test_the_host_is_in_no_tag(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = {name: recipe.tag for name, recipe in recipes().items()}
    (tmp_path / "own.crt").write_text("an authority")
    monkeypatch.setattr("holdfast.fixtures.images.recipe.AUTHORITIES", tmp_path)
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    assert site_files()["site/authorities/own.crt"] == b"an authority"
    assert proxy_arguments()["https_proxy"] == "http://proxy:3128"
    assert {name: recipe.tag for name, recipe in recipes().items()} == before


def test_settings_of_the_host_reach_the_builder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "https://packages.example/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "/only/here")
    monkeypatch.setenv("GOPROXY", "https://modules.example")
    assert site_files()["site/settings.xml"] == b"<settings/>\n"
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2/settings.xml").write_text("<settings>own</settings>")
    files = site_files()
    assert files["site/settings.xml"] == b"<settings>own</settings>"
    assert b"index-url = https://packages.example/simple\n" in files["site/pip.conf"]
    assert b"/only/here" not in files["site/pip.conf"]
    assert b"GOPROXY=https://modules.example\n" in files["site/go.env"]


def test_every_image_installs_from_files_of_its_context() -> None:
    for name, recipe in recipes().items():
        if name != BASE:
            copied = recipe.files["Dockerfile"].decode()
            assert all(each in copied for each in recipe.files if each not in ("Dockerfile", "enter.sh")), name


def test_jars_for_tables_are_where_the_image_puts_them_and_fit_its_spark() -> None:
    dockerfile, release = recipes()["spark"].files["Dockerfile"].decode(), spark_releases()[0]
    folders = {str(PurePosixPath(jar).parent) for jar in jars_of_tables()}
    assert [f"-DoutputDirectory={folder}\n" in dockerfile for folder in folders] == [True]
    assert release.packages["pyspark"].startswith(f"{release.minor}.")


def test_jars_come_one_by_one_where_parents_may_be_missing() -> None:
    project = recipes()["spark"].files["pom.xml"].decode()
    assert project.count("<exclusion>") == project.count("<dependency>") > 0
    assert "<exclusion>" not in recipes()["kafka"].files["pom.xml"].decode()
