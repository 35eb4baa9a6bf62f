"""A tag is the hash of everything that makes an image, and of nothing that belongs to the host."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import msgspec
import pytest

from holdfast.fixtures.images import site
from holdfast.fixtures.images.recipe import BASE, Recipe, all_versions, jars_of_tables, recipes

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
    monkeypatch.setattr(site, "AUTHORITIES", tmp_path)
    monkeypatch.setenv("https_proxy", "http://proxy:3128")
    assert site.site_files()["site/authorities/own.crt"] == b"an authority"
    assert site.proxy_arguments()["https_proxy"] == "http://proxy:3128"
    assert {name: recipe.tag for name, recipe in recipes().items()} == before


def test_settings_of_the_host_reach_the_builder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "https://packages.example/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "/only/here")
    monkeypatch.setenv("GOPROXY", "https://modules.example")
    assert site.site_files()["site/settings.xml"] == b"<settings/>\n"
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2/settings.xml").write_text("<settings>own</settings>")
    files = site.site_files()
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
    dockerfile, versions = recipes()["spark"].files["Dockerfile"].decode(), all_versions()
    folders = {str(PurePosixPath(jar).parent) for jar in jars_of_tables()}
    assert [f"-DoutputDirectory={folder}\n" in dockerfile for folder in folders] == [True]
    assert f"pyspark=={versions['spark_tables']['spark']}." in "\n".join(versions["spark"]["packages"])


def test_jars_come_one_by_one_where_parents_may_be_missing() -> None:
    project = recipes()["spark"].files["pom.xml"].decode()
    assert project.count("<exclusion>") == project.count("<dependency>") > 0
    assert "<exclusion>" not in recipes()["kafka"].files["pom.xml"].decode()
