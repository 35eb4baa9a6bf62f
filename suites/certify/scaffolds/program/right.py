"""A program that sums values by key: it persists sums and positions together, and then acknowledges.

The protocol is JSON, one message a line, on standard input and output. Killed at any moment, nothing is lost: what is
not in the table was not acknowledged, and is sent again. Nothing counts twice: what is in the table lies below its
position, and is passed over.
"""

import json
import os
import sys

MODULUS = 1 << 64


def identity_hash(digest_key, partition, offset):
    """Of one record; their sum in a row tells from outside which records are in it."""
    z = (digest_key + (partition << 48) + offset + 1) % MODULUS
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % MODULUS
    z = (z ^ z >> 27) * 0x94D049BB133111EB % MODULUS
    return z ^ z >> 31


class Table:
    """Rows by key, `[key, value, counts, digest]`, the next offset of each partition, a number: one file."""

    def __init__(self, folder, partitions, digest_key):
        self.path = os.path.join(folder, "table.json")
        self.digest_key = digest_key
        self.rows, self.positions, self.checkpoint = {}, [0] * partitions, 0
        if os.path.exists(self.path):
            with open(self.path) as file:
                stored = json.load(file)
            self.rows = {row[0]: row for row in stored["rows"]}
            self.positions, self.checkpoint = stored["positions"], stored["checkpoint"]

    def add(self, partition, offset, key, value):
        # Sent again, maybe in one message with new records.
        if offset < self.positions[partition]:
            return
        row = self.rows.setdefault(key, [key, 0, [0] * len(self.positions), "0"])
        row[1] += value
        row[2][partition] += 1
        row[3] = str((int(row[3]) + identity_hash(self.digest_key, partition, offset)) % MODULUS)
        self.positions[partition] = offset + 1

    def persist(self):
        """All or nothing: another file, which then takes the name."""
        self.checkpoint += 1
        stored = {"rows": list(self.rows.values()), "positions": self.positions, "checkpoint": self.checkpoint}
        with open(self.path + ".new", "w") as file:
            json.dump(stored, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.path + ".new", self.path)


def say(kind, **fields):
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")
    sys.stdout.flush()


def main():
    init = json.loads(sys.stdin.readline())
    digests = [str(identity_hash(int(key), partition, offset)) for key, partition, offset in init["self_test"]]
    say("hello", version=2, claims="exactly-once", digests=digests, offers=["checkpoints"])
    table = Table(init["folder"], init["partitions"], int(init["digest_key"]))
    if table.checkpoint:
        say("restored", checkpoint=table.checkpoint)
    say("ready", positions=table.positions)
    for line in sys.stdin:
        message = json.loads(line)
        partition, first = message["partition"], message["offset"]
        for offset, (key, value) in enumerate(message["records"], first):
            table.add(partition, offset, key, value)
        table.persist()
        say("checkpoint", checkpoint=table.checkpoint, positions=table.positions)
        say("ack", partition=partition, offset=table.positions[partition] - 1)


if __name__ == "__main__":
    main()
