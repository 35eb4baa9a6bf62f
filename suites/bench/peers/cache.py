"""Where the peers are installed: a virtual environment for each engine, and the Java archives that engines lack."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

DEFAULT_CACHE = Path.home() / ".cache" / "holdfast-bench"


class PeerCache:
    """Installs what is missing and finds what is there. Safe to delete at any time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.expanduser().resolve()

    def python(self, name: str, requirement: str) -> Path:
        """The interpreter of an environment that has a package.

        Args:
            name: of the environment.
            requirement: what to install, with its exact version.

        Raises:
            OSError: it cannot be installed; the sentence says what failed.
        """
        environment = self._folder / name
        python = environment / "bin" / "python"
        marker = environment / f"{requirement}.installed"
        if not marker.exists():
            shutil.rmtree(environment, ignore_errors=True)
            _run([sys.executable, "-m", "venv", str(environment)])
            _run([str(python), "-m", "pip", "install", "--quiet", requirement])
            marker.touch()
        return python

    def packages(self, name: str) -> Path:
        """The folder of an environment that its packages are in."""
        (packages,) = (self._folder / name / "lib").glob("python3*/site-packages")
        return packages

    def version(self, name: str, package: str) -> str:
        """The version of a package that an environment has."""
        found: list[Distribution] = list(distributions(name=package, path=[str(self.packages(name))]))
        return found[0].version

    def archive(self, coordinate: str) -> Path:
        """A Java archive from the Maven registry that this machine uses.

        Args:
            coordinate: group, artefact and version, with colons between.

        Raises:
            OSError: Maven is missing or does not find it.
        """
        group, artefact, version = coordinate.split(":")
        repository = self._folder / "maven"
        path = repository.joinpath(*group.split("."), artefact, version, f"{artefact}-{version}.jar")
        if not path.exists():
            # In a folder of the cache, because Maven looks for a project where it stands.
            repository.mkdir(parents=True, exist_ok=True)
            get = ["mvn", "-q", "-B", "dependency:get", f"-Dartifact={coordinate}", "-Dtransitive=false"]
            _run([*get, f"-Dmaven.repo.local={repository}"], repository)
        return path


def _run(command: list[str], folder: Path | None = None) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise OSError(f"the program {command[0]!r} is missing: install it to run this benchmark.") from None
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise OSError(f"{' '.join(command)} failed: {''.join(last)}")
