"""Scaffolds of what a kit judges, of a pipeline and of an engine, and how a template becomes a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

import msgspec

_HERE = "holdfast.suites.certify.scaffolds"


def template(path: str, words: Mapping[str, str]) -> str:
    """A file of this package, with the words between `@` replaced.

    Args:
        path: below this package.
        words: by the name that stands between two `@` in the template.
    """
    text = files(_HERE).joinpath(path).read_text()
    for word, replacement in words.items():
        text = text.replace(f"@{word}@", replacement)
    return text


def module(path: str, name: str) -> str:
    """A module of this package, as one that is called `name` and stands beside its twin.

    Args:
        path: below this package, such as `sink/wrong.py`.
        name: of the right one.
    """
    right = f"{_HERE}.{path.rpartition('/')[0].replace('/', '.')}.right"
    return template(path, {}).replace(f"from {right} ", f"from {name} ").replace('"example', f'"{name}')


class PartScaffold(msgspec.Struct, frozen=True):
    """Of one contract.

    Attributes:
        kind: name of its kit, such as `state-backend`.
        title: such as `A keyed state backend`.
        contract: module that is the contract.
        factory: class of the right one; that of its twin has `Wrong` before it.
    """

    kind: str
    title: str
    contract: str
    factory: str
    languages: tuple[str, ...] = ("python",)

    def files(self, name: str, language: str) -> Mapping[str, str]:
        kit = self.kind.replace("-", "_")
        words = {
            "NAME": name,
            "KIND": self.kind,
            "KIT": kit,
            "TITLE": self.title,
            "CONTRACT": self.contract,
            "FACTORY": self.factory,
            "CERTIFY": self.commands(name, language)[1],
        }
        return {
            f"{name}.py": module(f"{kit}/right.py", name),
            f"wrong_{name}.py": module(f"{kit}/wrong.py", name),
            f"test_{name}.py": template("templates/test_part.txt", words),
            "README.md": template("templates/part.md", words),
            ".github/workflows/holdfast.yml": template("templates/part.yml", words),
        }

    def commands(self, name: str, language: str) -> Sequence[str]:
        return ("pytest", f"holdfast certify --{self.kind} {name}:{self.factory}")


CHECKPOINT_STORAGE = PartScaffold(
    "checkpoint-storage", "A checkpoint storage", "holdfast.harness.spi.storage", "Storage"
)
FILE_SYSTEM = PartScaffold("file-system", "A file system for checkpoints", "holdfast.harness.spi.file_system", "Files")
RESTART_STRATEGY = PartScaffold(
    "restart-strategy", "A restart strategy", "holdfast.harness.spi.restart_strategy", "Strategy"
)
SINK = PartScaffold("sink", "A sink", "holdfast.harness.spi.sink", "Sink")
SOURCE = PartScaffold("source", "A source", "holdfast.harness.spi.source", "Source")
STATE_BACKEND = PartScaffold("state-backend", "A keyed state backend", "holdfast.harness.spi.state", "Backend")


class PipelineScaffold(msgspec.Struct, frozen=True):
    """The scaffold of a module with `build(spark, endpoints)`."""

    languages: tuple[str, ...] = ("python",)

    def files(self, name: str, language: str) -> Mapping[str, str]:
        words = {
            "NAME": name,
            "CERTIFY": self.commands(name, language)[-1],
            "MARK": 'rules="PIP-03", tier="spark"',
            "KIND": "spark",
            "RIGHT": f"{name}.py",
            "WRONG": f"wrong_{name}.py",
        }
        return {
            f"{name}.py": module("pipeline/right.py", name),
            f"wrong_{name}.py": module("pipeline/wrong.py", name),
            f"test_{name}.py": template("templates/test_twins.txt", words),
            "README.md": template("templates/pipeline.md", words),
            ".github/workflows/holdfast.yml": template("templates/pipeline.yml", words),
        }

    def commands(self, name: str, language: str) -> Sequence[str]:
        return ("pytest", f"holdfast certify spark+./{name}.py --tier spark")


PIPELINE = PipelineScaffold()


_OURS = "holdfast.suites.certify.scaffolds.system.right_worker"
_OF_OUR_LINT = "  # noqa: TID251 - the engine has a clock of its own"


class SystemScaffold(msgspec.Struct, frozen=True):
    """The scaffold of an adapter on `holdfast.harness.adapter`, with a small engine of two processes."""

    languages: tuple[str, ...] = ("python",)

    def files(self, name: str, language: str) -> Mapping[str, str]:
        words = {"NAME": name, "CERTIFY": self.commands(name, language)[1]}
        return {
            f"{name}.py": _module("right", name),
            f"{name}_worker.py": _module("right_worker", name),
            f"wrong_{name}.py": _module("wrong", name),
            f"wrong_{name}_worker.py": _module("wrong_worker", name),
            f"test_{name}.py": template("templates/test_system.txt", words),
            "README.md": template("templates/system.md", words),
            ".github/workflows/holdfast.yml": template("templates/part.yml", words),
        }

    def commands(self, name: str, language: str) -> Sequence[str]:
        return ("pytest", f"holdfast certify {name}:Engine --tier process")


def _module(part: str, name: str) -> str:
    text = module(f"system/{part}.py", name).replace(_OF_OUR_LINT, "").replace(_OURS, f"{name}_worker")
    return text.replace('"right_worker.py"', f'"{name}_worker.py"').replace(
        '"wrong_worker.py"', f'"wrong_{name}_worker.py"'
    )


SYSTEM = SystemScaffold()
