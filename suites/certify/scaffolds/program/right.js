/* A program that sums values by key: it persists sums and positions together, and then acknowledges.
 *
 * The protocol is JSON, one message a line, on standard input and output. Killed at any moment, nothing is lost: what is
 * not in the table was not acknowledged, and is sent again. Nothing counts twice: what is in the table lies below its
 * position, and is passed over.
 *
 * Keys and digests have 64 bits and are text, which becomes a BigInt; every other number is a Number.
 */
"use strict";

const fs = require("fs");
const path = require("path");
const readline = require("readline");

const BITS_64 = (1n << 64n) - 1n;

/** Of one record; their sum in a row tells from outside which records are in it. */
function identityHash(digestKey, partition, offset) {
  let z = (digestKey + (BigInt(partition) << 48n) + BigInt(offset) + 1n) & BITS_64;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & BITS_64;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & BITS_64;
  return z ^ (z >> 31n);
}

/** Rows by key, the next offset of each partition, the number of the checkpoint: one file. */
class Table {
  constructor(init) {
    this.path = path.join(init.folder, "table.json");
    this.digestKey = BigInt(init.digest_key);
    this.rows = new Map();
    this.positions = Array(init.partitions).fill(0);
    this.checkpoint = 0;
    if (fs.existsSync(this.path)) {
      const stored = JSON.parse(fs.readFileSync(this.path, "utf8"));
      this.positions = stored.positions;
      this.checkpoint = stored.checkpoint;
      for (const row of stored.rows) this.rows.set(row[0], row);
    }
  }

  add(partition, offset, key, value) {
    // Sent again, maybe in one message with new records.
    if (offset < this.positions[partition]) return;
    let row = this.rows.get(key);
    if (!row) this.rows.set(key, (row = [key, 0, this.positions.map(() => 0), "0"]));
    row[1] += value;
    row[2][partition] += 1;
    row[3] = String((BigInt(row[3]) + identityHash(this.digestKey, partition, offset)) & BITS_64);
    this.positions[partition] = offset + 1;
  }

  /** All or nothing: another file, which then takes the name. */
  persist() {
    this.checkpoint += 1;
    const stored = { rows: [...this.rows.values()], positions: this.positions, checkpoint: this.checkpoint };
    const file = fs.openSync(`${this.path}.new`, "w");
    fs.writeSync(file, JSON.stringify(stored));
    fs.fsyncSync(file);
    fs.closeSync(file);
    fs.renameSync(`${this.path}.new`, this.path);
  }
}

let table = null;

function say(type, fields) {
  process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`);
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "init") {
    const digests = message.self_test.map(([key, ...record]) => String(identityHash(BigInt(key), ...record)));
    say("hello", { version: 2, claims: "exactly-once", digests, offers: ["checkpoints"] });
    table = new Table(message);
    if (table.checkpoint) say("restored", { checkpoint: table.checkpoint });
    say("ready", { positions: table.positions });
    return;
  }
  const { partition, offset } = message;
  message.records.forEach(([key, value], index) => table.add(partition, offset + index, key, value));
  table.persist();
  say("checkpoint", { checkpoint: table.checkpoint, positions: table.positions });
  say("ack", { partition, offset: table.positions[partition] - 1 });
});
