"""Whether the two command lines of README.md do what it promises: the first ten minutes of a new user.

    .ci/first_ten_minutes [--machine debian|this] [--checkout FOLDER] [--only FIRST|SECOND]

Each line runs literally, in a fresh clone of what is committed and a new virtual environment, by an ordinary user, on a
Debian that has its base, git and Python, and no Docker. The first runs without Java. Then Java is installed and it runs
again, with the network cut behind the installation. `--machine this` runs the lines in a folder of this machine, to try
the check itself. It needs nothing but Python's own library; `--machine debian` needs root.

Exit codes: 0 as promised, 1 not so, 3 README.md does not have its two lines, or wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from xml.etree import ElementTree

from machines import BareDebian, Machine, Ran, ThisMachine

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "$ pip install -e "
"""Begins the two lines in README.md, and no other."""
BETWEEN = " && "
CERTIFIES, TESTS = "holdfast certify ", "pytest "
TITLE = "CERTIFIED"
"""That of the reference, which is right."""
WITHOUT_JAVA, WITH_JAVA = ("sim", "process"), ("sim", "process", "spark")
"""Tiers that run on a machine without Docker."""
SUMMARY = re.compile(r"^=* ?(?:(\d+) failed, )?(?P<passed>\d+) passed\b.*? in [\d.]+s", re.MULTILINE)
SHOWN_LINES = 40


class Measured(NamedTuple):
    """A line that ran, and what is wrong with it."""

    what: str
    ran: Ran
    wrong: tuple[str, ...]


def main() -> int:
    arguments = _arguments()
    checkout = arguments.checkout or ROOT
    try:
        first, second = command_lines((checkout / "README.md").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 3
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _ended)
    if arguments.machine == "this":
        measured = list(_tried(ThisMachine(checkout.resolve()), first, second, arguments.only, lambda: None))
    else:
        if os.geteuid() != 0:
            print("A bare machine needs root: run this as root, or with --machine this.", file=sys.stderr)
            return 3
        machine = BareDebian(ROOT / "build/bare-machine", checkout)
        try:
            if changed := machine.make():
                print(f"Not tried, since not committed: {', '.join(changed)}")
            measured = list(_tried(machine, first, second, arguments.only, machine.make_environment))
        finally:
            machine.remove()
    print(_table(measured))
    return 1 if any(each.wrong for each in measured) else 0


def _ended(number: int, frame: object) -> NoReturn:
    """What is under way ends with this process, and the machine is removed."""
    raise SystemExit(128 + number)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", choices=("debian", "this"), default="debian")
    parser.add_argument(
        "--checkout", type=Path, help="repository that is cloned; with `this`, folder that is used as it is"
    )
    parser.add_argument("--only", choices=("first", "second"), help="one of the two lines")
    try:
        return parser.parse_args()
    except SystemExit as error:
        raise SystemExit(3 if error.code else 0) from None


def command_lines(document: str) -> tuple[str, str]:
    """The two command lines of README.md.

    Raises:
        ValueError: there are not two, or they are not the ones that are looked for.
    """
    found = [line.removeprefix("$ ") for line in document.splitlines() if line.startswith(PROMPT)]
    if len(found) != 2 or any(line.count(BETWEEN) != 1 for line in found):
        raise ValueError(
            f"README.md has {len(found)} lines that begin with {PROMPT!r}, and it must have two, each with one "
            f"{BETWEEN.strip()!r}: {found}."
        )
    first, second = found
    if not first.partition(BETWEEN)[2].startswith(CERTIFIES) or not second.partition(BETWEEN)[2].startswith(TESTS):
        raise ValueError(
            f"README.md must have a line that ends with {CERTIFIES}... and then one with {TESTS}...: {found}."
        )
    return first, second


def _tried(
    machine: Machine, first: str, second: str, only: str | None, make_environment: Callable[[], None]
) -> Iterator[Measured]:
    """What is wrong with each line, as it comes."""
    if only != "second":
        make_environment()
        yield _checked(machine, "without Java", first, lambda ran: _certified(machine, ran, WITHOUT_JAVA))
        machine.install_java()
        install, _, certify = first.partition(BETWEEN)
        yield _checked(machine, "with Java", install, lambda ran: [])
        yield _checked(
            machine, "with Java, no network", certify, lambda ran: _certified(machine, ran, WITH_JAVA), offline=True
        )
    else:
        machine.install_java()
    if only != "first":
        make_environment()
        yield _checked(machine, "the tests", second, _tested)


def _checked(
    machine: Machine, what: str, line: str, check: Callable[[Ran], list[str]], *, offline: bool = False
) -> Measured:
    print(f"{what}: $ {line}", flush=True)
    ran = machine.run(line, what.replace(",", "").replace(" ", "-"), offline=offline)
    wrong = [f"exit code {ran.code}, not 0"] if ran.code else []
    wrong += [f"left behind: {each}" for each in ran.left]
    wrong += check(ran)
    for each in wrong:
        print(f"  NOT as promised: {each}")
    if wrong:
        print("\n".join(f"  | {each}" for each in ran.output.splitlines()[-SHOWN_LINES:]))
    print(f"  {_figures(ran)}", flush=True)
    return Measured(f"{what}: {line}", ran, tuple(wrong))


def _certified(machine: Machine, ran: Ran, tiers: tuple[str, ...]) -> list[str]:
    """What is wrong with a certificate: with its title, its tiers and the files of its report."""
    folder = machine.checkout / "holdfast-out/latest"
    wrong = []
    for name, well_formed in REPORT.items():
        try:
            well_formed((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, ElementTree.ParseError) as error:
            wrong.append(f"{name} of the report: {error}")
    allure = [*(folder / "allure-results").glob("*-result.json")]
    wrong += [] if allure else ["the report has no allure-results"]
    if wrong:
        return wrong
    results: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    title = results["certificate"]["title"]
    heading = f"{TITLE} on {', '.join(tiers)}"
    if title != TITLE:
        wrong.append(f"the title is {title}, not {TITLE}")
    if not re.search(rf"^{heading}\b(?!,)", ran.output, re.MULTILINE):
        wrong.append(f"no line of the output begins with {heading!r}")
    reasons = {each["tier"]: "" if each["ran"] else each["reason"] for each in results["tiers"]}
    for tier, reason in reasons.items():
        if (tier in tiers) is bool(reason):
            wrong.append(f"tier {tier} {'was left out: ' + reason if reason else 'ran'}")
    if reasons["spark"] and "Java" not in reasons["spark"]:
        wrong.append(f"tier spark was left out, and Java is not named: {reasons['spark']}")
    return wrong


def _tested(ran: Ran) -> list[str]:
    found = SUMMARY.search(ran.output)
    return [] if found and int(found["passed"]) else ["pytest does not say that a test passed"]


class _Page(HTMLParser):
    """Whether a page ends where its document does."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_endtag(self, tag: str) -> None:
        self.seen.append(tag)


def _page(text: str) -> None:
    page = _Page()
    page.feed(text)
    page.close()
    if page.seen[-1:] != ["html"]:
        raise ValueError("it does not end as a page of HTML does")


def _text(text: str) -> None:
    if not text.strip():
        raise ValueError("it is empty")


REPORT: dict[str, Callable[[str], object]] = {
    "results.json": json.loads,
    "report.html": _page,
    "junit.xml": ElementTree.fromstring,
    "ctrf.json": json.loads,
    "summary.md": _text,
}
"""Files of a report, by name, and what raises an error of each that is not well formed."""


def _figures(ran: Ran) -> str:
    """Of the last command of a line, and of the whole."""
    whole = f"{ran.seconds:.0f} s, {ran.cpu_s:.0f} s of processor time, at most {ran.peak_bytes / 2**20:.0f} MiB"
    if len(ran.commands) < 2:
        return whole
    last = ran.commands[-1]
    behind = f"{ran.seconds - last.at_s:.0f} s and {ran.cpu_s - last.cpu_s:.0f} s of processor time"
    return f"{whole}; behind the install {behind}"


def _table(measured: list[Measured]) -> str:
    return "\n".join(
        f"{'NOT as promised' if each.wrong else 'as promised':<15}  {each.what}\n{'':<15}  {_figures(each.ran)}"
        for each in measured
    )


if __name__ == "__main__":
    sys.exit(main())
