"""A certificate that somebody sends, and what a forger does to it."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.harness.cli import execute
from holdfast.harness.engine.verification.statements import Statements
from holdfast.harness.engine.verification.verify import verify

Content = dict[str, Any]


def edit_results(folder: Path, change: Callable[[Content], object]) -> None:
    """Change `results.json`."""
    path = folder / "results.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def edit_log(folder: Path, change: Callable[[list[Content]], object]) -> None:
    """Change the results of single runs."""
    (path,) = folder.glob("results-*.jsonl.gz")
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    change(lines)
    path.write_bytes(gzip.compress("".join(f"{json.dumps(line)}\n" for line in lines).encode()))


def edit_run(folder: Path, run: str, change: Callable[[Content], object]) -> None:
    """Change the result of a run wherever it stands."""

    def in_results(content: Content) -> None:
        for each in content["runs"]:
            if each["id"] == run:
                change(each)

    def in_log(lines: list[Content]) -> None:
        for line in lines:
            if line["type"] == "run" and line["result"]["id"] == run:
                change(line["result"])
                if line["kept"]:
                    change(line["kept"])

    edit_results(folder, in_results)
    edit_log(folder, in_log)


def rule(content: Content, name: str) -> Content:
    """A rule of `results.json`."""
    found: Content = next(each for each in content["rules"] if each["rule"]["id"] == name)
    return found


def edit_history(folder: Path, run: str, old: bytes, new: bytes) -> None:
    """Change what a node recorded in a kept run."""
    for path in (folder / "runs" / run / "history").glob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(old, new, 1))


def digest_anew(folder: Path, run: str) -> None:
    """Make every digest in the folder fit what a kept run holds now, as a careful forger would."""
    place = folder / "runs" / run
    manifest = place / "history" / "manifest.json"
    content = json.loads(manifest.read_text())
    for each in content["files"]:
        file = (manifest.parent / each["name"]).read_bytes()
        each["length"], each["sha256"] = len(file), hashlib.sha256(file).hexdigest()
    manifest.write_text(json.dumps(content))
    verdicts = json.loads((place / "verdicts.json").read_text())
    verdicts["history_sha256"] = hashlib.sha256(manifest.read_bytes()).hexdigest()
    (place / "verdicts.json").write_text(json.dumps(verdicts))
    of_cases: dict[tuple[str, str], str] = {}

    def in_log(lines: list[Content]) -> None:
        stored: dict[tuple[str, str], bytes] = {}
        for line in lines:
            key = (line["result"]["case"], line["result"]["tier"]) if line["type"] in ("run", "case") else ("", "")
            if line["type"] == "run" and line["kept"] and line["kept"]["artefacts"]:
                path = folder / line["kept"]["artefacts"] / "history" / "manifest.json"
                stored[key] = stored.get(key, b"") + path.read_bytes()
            if line["type"] == "case":
                line["histories"] = hashlib.sha256(stored.get(key, b"")).hexdigest() if line["histories"] else ""
                of_cases[key] = line["histories"]

    edit_log(folder, in_log)

    def in_results(content: Content) -> None:
        digests = [of_cases.get((each["case"], each["tier"]), "") for each in content["cases"]]
        content["history_digest"] = hashlib.sha256("".join(digests).encode()).hexdigest()

    edit_results(folder, in_results)


def certificate(out: Path, code: int, arguments: str) -> Path:
    """The folder of the one that `holdfast certify` makes with these arguments and this exit code."""
    assert execute(["certify", *arguments.split(), "--out", str(out)]) == code
    (folder,) = out.glob("2*")
    return folder


def verified(folder: Path, replays: int = 0) -> Statements:
    """What is stated of it, without trust in code of its sender."""
    return verify(folder, replays, 1, trust=False)[1]
