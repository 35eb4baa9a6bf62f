"""Wrong: of what is sent again it recognises only the last twenty records of a partition, and counts others again."""

import json
import os
import select
import time  # noqa: TID251 - the program has a clock of its own
from typing import Any

W = 1 << 64
FEW = 20


def scramble(v: int) -> int:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        v = (v ^ v >> shift) * factor % W
    return v ^ v >> 31


def put(message: dict[str, Any]) -> None:
    os.write(1, (json.dumps(message) + "\n").encode())


def main() -> None:
    rest, init, rows, recent = b"", {}, {}, {}
    news: dict[int, int] = {}
    saved = time.monotonic()
    while True:
        if select.select([0], [], [], 0.1)[0]:
            got = os.read(0, 9_999)
            if not got:
                return
            *lines, rest = (rest + got).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if message["type"] == "init":
                    init = message
                    os.chdir(init["folder"])
                    if os.path.exists("table.json"):
                        with open("table.json") as file:
                            kept = json.load(file)
                        rows = {row[0]: row for row in kept["rows"]}
                        recent = {int(part): last for part, last in kept["recent"].items()}
                    put({"type": "ready", "version": 1, "positions": [0] * init["partitions"]})
                    continue
                part = message["partition"]
                for offset, (key, value) in enumerate(message["records"], message["offset"]):
                    last = recent.setdefault(part, [])
                    if offset in last:
                        continue
                    recent[part] = [*last, offset][-FEW:]
                    row = rows.setdefault(key, [key, 0, [0] * init["partitions"], 0])
                    row[1] += value
                    row[2][part] += 1
                    row[3] = (row[3] + scramble((init["digest_key"] + (part << 48) + offset + 1) % W)) % W
                    news[part] = offset
        if news and time.monotonic() - saved > 0.2:
            with open("table.new", "w") as file:
                json.dump({"rows": list(rows.values()), "recent": recent}, file)
            os.replace("table.new", "table.json")
            for part, offset in news.items():
                put({"type": "ack", "partition": part, "offset": offset})
            news, saved = {}, time.monotonic()


main()
