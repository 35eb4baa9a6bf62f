"""Right, and slow: it takes a second and a half to start, and persists and acknowledges once a second."""

import json
import os
import select
import sys
import time  # noqa: TID251 - the program has a clock of its own
from typing import Any

BIG = 1 << 64


def mix(x: int) -> int:
    x %= BIG
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % BIG
    x = (x ^ x >> 27) * 0x94D049BB133111EB % BIG
    return x ^ x >> 31


def out(**words: Any) -> None:
    os.write(1, json.dumps(words).encode() + b"\n")


def main() -> None:
    init = json.loads(sys.stdin.buffer.readline())
    time.sleep(1.5)
    at = os.path.join(init["folder"], "table.json")
    kept: dict[str, Any] = {"rows": [], "done": [0] * init["partitions"]}
    if os.path.exists(at):
        with open(at) as file:
            kept = json.load(file)
    rows, done = {row[0]: row for row in kept["rows"]}, kept["done"]
    out(type="ready", version=1, positions=done)
    dirty: set[int] = set()
    due, buffer = time.monotonic() + 1, b""
    while True:
        if select.select([0], [], [], max(0, due - time.monotonic()))[0]:
            chunk = os.read(0, 1 << 16)
            if not chunk:
                return
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                message = json.loads(line)
                part = message["partition"]
                for offset, (key, value) in enumerate(message["records"], message["offset"]):
                    if offset >= done[part]:
                        row = rows.setdefault(key, [key, 0, [0] * len(done), 0])
                        row[1], row[3] = (
                            row[1] + value,
                            (row[3] + mix(init["digest_key"] + (part << 48) + offset + 1)) % BIG,
                        )
                        row[2][part] += 1
                        done[part] = offset + 1
                dirty.add(part)
        if time.monotonic() >= due:
            due += 1
            with open(at + ".2", "w") as file:
                json.dump({"rows": list(rows.values()), "done": done}, file)
            os.replace(at + ".2", at)
            for part in dirty:
                out(type="ack", partition=part, offset=done[part] - 1)
            dirty = set()


main()
