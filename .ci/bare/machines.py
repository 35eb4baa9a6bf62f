"""Where the command lines of README.md run: on a bare Debian, or to try the check in a folder of this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from supervised import end_with_parent

HERE = Path(__file__).resolve().parent
SUITE = "bookworm"
PACKAGES = ("ca-certificates", "git", "python3", "python3-venv")
"""What a reader of README.md has, beside Debian's base."""
JAVA = "openjdk-17-jre-headless"
USER, USER_ID = "reader", 1000
HOME = f"/home/{USER}"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
PASSED_ON = ("PIP_", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""Beginnings of the variables that say how this machine reaches an index of packages."""
LIMIT_S = 3_600
RECORD = "made.json"


class Command(NamedTuple):
    """Of a line, as its shell began it.

    Attributes:
        command: with its arguments.
        at_s: seconds from the begin of the line.
        cpu_s: processor time that the line had used by then.
    """

    command: str
    at_s: float
    cpu_s: float


class Ran(NamedTuple):
    """What came of a line.

    Attributes:
        code: exit code.
        output: standard output and standard error.
        seconds: from its begin to its end.
        cpu_s: processor time of all its processes.
        peak_bytes: memory of all its processes at a time, what they share counted once; looked at every 2 s.
        commands: of the line.
        left: command lines of processes, and paths, that it left behind.
    """

    code: int
    output: str
    seconds: float
    cpu_s: float
    peak_bytes: int
    commands: tuple[Command, ...]
    left: tuple[str, ...]


class Machine(Protocol):
    """Attributes:
    checkout: the clone in which the lines run, as this process sees it.
    """

    checkout: Path

    def install_java(self) -> None:
        """Behind it, a line finds Java 17."""

    def run(self, line: str, name: str, *, offline: bool = False) -> Ran:
        """Run a line of a shell in the clone.

        Args:
            line: literally.
            name: of the file that keeps its output.
            offline: it reaches no other machine.
        """


class ThisMachine:
    """A folder that stands for a clone, with the commands that are on the path now: nothing is isolated.

    Args:
        checkout: the folder.
    """

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self._work = checkout.parent / f"{checkout.name}-logs"
        self._temporary = self._work / "tmp"
        self._temporary.mkdir(parents=True)

    def install_java(self) -> None:
        """It has what it has."""

    def run(self, line: str, name: str, *, offline: bool = False) -> Ran:
        environment = {**os.environ, "TMPDIR": str(self._temporary)}
        order = _order(line, self._work / f"{name}.log", environment, str(self.checkout), offline=False)
        return _carried_out([], order, [self._temporary])


class BareDebian:
    """A Debian with nothing but its base, git and Python, and an ordinary user with a clone and an environment.

    Args:
        work: folder where it is made; its base and what pip has fetched stay there for the next time.
        repository: that is cloned.
    """

    def __init__(self, work: Path, repository: Path) -> None:
        self._work = work
        self._root = work / "root"
        self._repository = repository
        self.checkout = self._root / HOME.lstrip("/") / "holdfast"

    def make(self) -> list[str]:
        """Make it anew, with a clone of what is committed.

        Returns:
            What is changed or new in the repository, and not committed.
        """
        base = self._base()
        self.remove()
        subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(self._root)], check=True)
        (self._root / "etc/hosts").write_text("127.0.0.1 localhost\n127.0.1.1 bare\n")
        self._in_root(["useradd", "--create-home", "--shell", "/bin/bash", "--uid", str(USER_ID), USER])
        _give_settings_of_pip(self._root)
        git = ["git", "-c", "safe.directory=*"]
        subprocess.run([*git, "clone", "--quiet", "--no-local", str(self._repository), str(self.checkout)], check=True)
        self._in_root(["chown", "--recursive", f"{USER}:{USER}", HOME])
        status = [*git, "-C", str(self._repository), "status", "--porcelain"]
        return [each[3:] for each in subprocess.check_output(status, text=True).splitlines()]

    def remove(self) -> None:
        """Only its base and what pip has fetched stay."""
        if self._root.exists():
            subprocess.run(["rm", "-rf", "--one-file-system", str(self._root)], check=True)

    def install_java(self) -> None:
        self._in_root(["apt-get", "install", "-y", "-qq", "--no-install-recommends", JAVA])

    def make_environment(self) -> None:
        """A new virtual environment of Python, which every line finds activated."""
        made = self.run(f"rm -rf {HOME}/environment && python3 -m venv {HOME}/environment", "environment")
        if made.code:
            raise OSError(f"no virtual environment can be made: {made.output}")

    def run(self, line: str, name: str, *, offline: bool = False) -> Ran:
        environment = {
            "HOME": HOME, "USER": USER, "LOGNAME": USER, "SHELL": "/bin/bash", "LANG": "C.UTF-8",
            "VIRTUAL_ENV": f"{HOME}/environment",
            "PATH": f"{HOME}/environment/bin:/usr/local/bin:/usr/bin:/bin",
            **{key: value for key, value in os.environ.items() if key.startswith(PASSED_ON)},
        }  # fmt: skip
        fetched = self._work / "pip-cache"
        fetched.mkdir(exist_ok=True)
        os.chown(fetched, USER_ID, USER_ID)
        order = _order(line, self._work / f"{name}.log", environment, f"{HOME}/holdfast", offline=offline)
        order |= {"root": str(self._root), "patience_s": 5, "shared": {f"{HOME}/.cache/pip": str(fetched)}}
        namespaces = ["unshare", "--mount-proc", "--fork", "--kill-child", "--uts", "--ipc", "--pid"]
        return _carried_out([*namespaces, *(["--net"] if offline else [])], order, [self._root / "tmp"])

    def _base(self) -> Path:
        """The Debian that each machine is a copy of; made once. The packages of Java lie in it, not installed."""
        base = self._work / f"base-{SUITE}"
        wanted = json.dumps([SUITE, *PACKAGES, JAVA])
        if (base / RECORD).is_file() and (base / RECORD).read_text() == wanted:
            return base
        shutil.rmtree(base, ignore_errors=True)
        self._work.mkdir(parents=True, exist_ok=True)
        if shutil.which("debootstrap") is None:
            subprocess.run(["apt-get", "update", "-qq"], check=True)
            subprocess.run(["apt-get", "install", "-y", "-qq", "debootstrap"], check=True, stdout=subprocess.DEVNULL)
        command = ["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(base)]
        with open(self._work / "debootstrap.log", "wb") as log:
            subprocess.run(command, check=True, stdout=log, stderr=subprocess.STDOUT)
        self._in_root(["apt-get", "clean"], base)
        self._in_root(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "--download-only", JAVA], base)
        (base / RECORD).write_text(wanted)
        return base

    def _in_root(self, command: list[str], root: Path | None = None) -> None:
        """Run a command as the root of the machine, which reaches the network as this one does."""
        place = root or self._root
        shutil.copy("/etc/resolv.conf", place / "etc/resolv.conf")
        inside = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inside, str(place), *command]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LANG": "C.UTF-8"}
        environment |= {key: value for key, value in os.environ.items() if key.lower().endswith("_proxy")}
        done = subprocess.run(words, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"{' '.join(command)} failed on the bare machine: {done.stdout}{done.stderr}")


def _give_settings_of_pip(root: Path) -> None:
    """The configuration of this machine's pip, and the certificates and folders that it names."""
    for place in ("/etc/pip.conf", CERTIFICATES):
        if Path(place).is_file():
            shutil.copy(place, root / place.lstrip("/"))
    for place in os.environ.get("PIP_FIND_LINKS", "").split():
        if Path(place).is_dir():
            shutil.copytree(place, root / place.lstrip("/"), dirs_exist_ok=True)


def _order(line: str, output: Path, environment: Mapping[str, str], folder: str, *, offline: bool) -> dict[str, object]:
    return {
        "line": line, "output": str(output), "environment": dict(environment), "folder": folder, "offline": offline,
        "root": "", "shared": {}, "name": "bare", "user": USER_ID, "limit_s": LIMIT_S, "patience_s": 1,
    }  # fmt: skip


def _carried_out(before: list[str], order: dict[str, object], temporary: list[Path]) -> Ran:
    output = Path(str(order["output"]))
    output.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="first-ten-minutes-") as folder:
        written, result = Path(folder, "order.json"), Path(folder, "result.json")
        written.write_text(json.dumps({**order, "result": str(result)}))
        words = [*before, sys.executable, str(HERE / "supervised.py"), str(written)]
        path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        subprocess.run(words, check=True, env=path, preexec_fn=end_with_parent)
        ran = json.loads(result.read_text())
    left = [*ran.pop("left"), *(str(path) for place in temporary for path in sorted(place.iterdir()) if _lasts(path))]
    commands = tuple(Command(**each) for each in ran.pop("commands"))
    return Ran(**ran, commands=commands, output=output.read_text(errors="replace"), left=tuple(left))


def _lasts(path: Path) -> bool:
    """Whether something in a folder for temporary files is left behind; Java and pytest keep their own there."""
    return not path.name.startswith(("hsperfdata_", "pytest-of-"))
