"""Right in what it sums, and wrong in the digest alone: it forgets to add one to the offset.

It dies by itself whenever it has taken a thousand records in a life.
"""

import json
import os
import sys
from typing import Any

MASK = (1 << 64) - 1
PATIENCE = 1_000


def identity(seed: int, partition: int, offset: int) -> int:
    z = seed + (partition << 48) + offset & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


init = json.loads(sys.stdin.readline())
path = os.path.join(init["folder"], "table.json")
table: dict[str, Any] = {"rows": [], "next": [0] * init["partitions"]}
if os.path.exists(path):
    with open(path) as stored:
        table = json.load(stored)
rows = {row[0]: row for row in table["rows"]}
print(json.dumps({"type": "ready", "version": 1, "positions": table["next"]}), flush=True)  # noqa: T201
taken = 0
for line in sys.stdin:
    message = json.loads(line)
    partition = message["partition"]
    for offset, (key, value) in enumerate(message["records"], message["offset"]):
        if offset < table["next"][partition]:
            continue
        row = rows.setdefault(key, [key, 0, [0] * init["partitions"], 0])
        row[1] += value
        row[2][partition] += 1
        row[3] = row[3] + identity(init["digest_key"], partition, offset) & MASK
        table["next"][partition] = offset + 1
        taken += 1
    with open(path + "~", "w") as file:
        json.dump({"rows": list(rows.values()), "next": table["next"]}, file)
    os.replace(path + "~", path)
    answer = {"type": "ack", "partition": partition, "offset": table["next"][partition] - 1}
    print(json.dumps(answer), flush=True)  # noqa: T201
    if taken >= PATIENCE:
        raise SystemExit("out of patience")
