"""The scaffold of an engine that runs as processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from holdfast.suites.certify.scaffolds.text import module, template

_OURS = "holdfast.suites.certify.scaffolds.system.right_worker"
_OF_OUR_LINT = "  # noqa: TID251 - the engine has a clock of its own"


class SystemScaffold(msgspec.Struct, frozen=True):
    """Of an adapter on `holdfast.harness.adapter`, with a small engine of two processes."""

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
