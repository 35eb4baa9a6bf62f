"""Settings of a night: each field is checked where it is read, and refused in one sentence."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from holdfast.harness import cli
from holdfast.harness.engine.errors import UsageError
from holdfast.harness.engine.nights.settings import Settings, read_settings
from holdfast.harness.engine.nights.waivers import Waiver
from holdfast.harness.model.case import Tier

WHOLE = """
systems = ["reference", "spark+jobs/orders.py"]
tiers = ["sim", "process"]
budget-minutes = 90
workers = 4
reruns = 5
environment = ["TEAM"]

[sites]
kafka-bootstrap = "broker:9092"
s3-endpoint = "http://store:9000"
spark-master = "spark://master:7077"
images = { kafka = "our-kafka:4" }
allow-faults-on = ["kafka"]

[[waivers]]
rule = "BAR-03"
reason = "the operator is replaced in June"
expires = 2027-06-30

[[waivers]]
signature = "CUT/order (wrong state)"
system = "reference"
reason = "known"
expires = 2027-01-31
"""
WAIVER = '[[waivers]]\nrule = "BAR-03"\nreason = "r"\nexpires = 2027-01-31\n'


def test_every_field_is_read(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text(WHOLE)
    settings = read_settings(None, tmp_path)
    assert settings.systems == ("reference", "spark+jobs/orders.py")
    assert settings.tiers == (Tier.SIM, Tier.PROCESS)
    assert (settings.budget_s, settings.workers, settings.reruns) == (5_400.0, 4, 5)
    assert settings.environment == ("TEAM",)
    sites = settings.sites
    assert (sites.kafka_bootstrap, sites.s3_endpoint, sites.spark_master, sites.images, sites.allow_faults_on) == (
        "broker:9092", "http://store:9000", "spark://master:7077", ("kafka=our-kafka:4",), ("kafka",),
    )  # fmt: skip
    assert settings.waivers == (
        Waiver(rule="BAR-03", reason="the operator is replaced in June", expires=date(2027, 6, 30)),
        Waiver(signature="CUT/order (wrong state)", system="reference", reason="known", expires=date(2027, 1, 31)),
    )


def test_pyproject_serves_where_there_is_no_own_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.holdfast]\nsystems = ["reference"]\n')
    assert read_settings(None, tmp_path).systems == ("reference",)
    (tmp_path / "holdfast.toml").write_text('systems = ["persists-first"]\n')
    assert read_settings(None, tmp_path).systems == ("persists-first",)
    assert read_settings(tmp_path / "pyproject.toml", tmp_path).systems == ("reference",)


def test_no_file_gives_defaults(tmp_path: Path) -> None:
    assert read_settings(None, tmp_path) == Settings()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("systems = 3", "systems is 3; allowed is a list of texts: write systems = "),
        ('systems = ["a", "a"]', "systems is 'a'; allowed is each value once: remove the others."),
        ('tiers = ["simulator"]', "tiers is 'simulator'; allowed is sim, process, spark, containers: use these."),
        ('budget-minutes = "60"', "budget-minutes is '60'; allowed is a whole number from 1 to 1440: write"),
        ("budget-minutes = 0", "budget-minutes is 0; allowed is a whole number from 1 to 1440"),
        ("budget-minutes = true", "budget-minutes is True; allowed is a whole number"),
        ("workers = 0", "workers is 0; allowed is a whole number from 1 to 256"),
        ("reruns = -1", "reruns is -1; allowed is a whole number from 0 to 100"),
        ("budget = 5", "unknown field 'budget'; allowed are systems, tiers, budget-minutes, "),
        ("sites = 1", "sites is 1; allowed is a table: write [sites]."),
        ('[sites]\ns3-secret-key = "k"', "unknown field 's3-secret-key'; allowed are kafka-bootstrap, "),
        ("[sites]\nspark-master = 7077", "sites: spark-master is 7077; allowed is a text"),
        ("[waivers]", "waivers is {}; allowed is a list of tables: write [[waivers]] above each."),
        (WAIVER.replace("BAR-03", "BAR-99"), "waivers[0]: rule is 'BAR-99'; allowed is the id of a rule"),
        (WAIVER.replace('reason = "r"', ""), "waivers[0]: reason is ''; allowed is a sentence"),
        (WAIVER.replace("2027-01-31", '"soon"'), "waivers[0]: expires is 'soon'; allowed is a day"),
        (WAIVER.replace("expires = 2027-01-31", ""), "waivers[0]: expires is missing; allowed is a day"),
        (WAIVER.replace('rule = "BAR-03"', ""), "waivers[0]: signature is ''; allowed is either a signature"),
        (WAIVER + 'signature = "CUT/order"', "waivers[0]: signature is 'CUT/order'; allowed is either"),
        ("systems = [", "it is not TOML ("),
    ],
)
def test_a_wrong_field_is_one_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "holdfast.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_settings(None, tmp_path)
    assert str(refused.value).startswith(str(path))
    assert sentence in str(refused.value)


def test_keys_of_a_store_are_shown_to_come_from_the_environment(tmp_path: Path) -> None:
    (tmp_path / "holdfast.toml").write_text('[sites]\ns3-secret-key = "hunter2"\n')
    with pytest.raises(UsageError, match="HOLDFAST_S3_SECRET_KEY") as refused:
        read_settings(None, tmp_path)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "no system is named; write systems = "),
        (["--system", "nonesuch"], "unknown system 'nonesuch'; known: "),
        (["--system", "persists-first", "--tier", "sim"], "runs on none of the tiers sim; allowed are process"),
        (["--system", "reference", "--budget", "soon"], "--budget: 'soon' is not a duration"),
        (["--config", "nowhere.toml"], "nowhere.toml: cannot be read"),
        (["--system", "reference", "--seed", "-1"], "Invalid value for '--seed'"),
    ],
)
def test_a_night_that_cannot_be_is_refused_before_anything_is_written(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.execute(["nightly", *arguments]) == cli.WRONG_USAGE
    said = capsys.readouterr()
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_store_without_keys_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HOLDFAST_S3_ACCESS_KEY", raising=False)
    (tmp_path / "holdfast.toml").write_text('systems = ["reference"]\n[sites]\ns3-endpoint = "http://store:9000"\n')
    assert cli.execute(["nightly"]) == cli.WRONG_USAGE
    assert "HOLDFAST_S3_ACCESS_KEY" in capsys.readouterr().err
