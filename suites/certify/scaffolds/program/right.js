/* A program that sums values by key: it persists sums and positions together, and then acknowledges.
 *
 * The protocol is JSON, one message a line, on standard input and output. Killed at any moment, nothing is lost: what is
 * not in the table was not acknowledged, and is sent again. Nothing counts twice: what is in the table lies below its
 * position, and is passed over.
 *
 * Numbers of JavaScript have 53 bits, those of the protocol 64: every whole number is read and written as a BigInt.
 */
"use strict";

const fs = require("fs");
const path = require("path");
const readline = require("readline");

const BITS_64 = (1n << 64n) - 1n;

/** A message in which every whole number is a BigInt. Text is left alone, whatever digits it holds. */
function parse(line) {
  const marked = line.replace(/("(?:[^"\\]|\\.)*")|(-?\d+)/g, (_, text, number) => text ?? `{"$":"${number}"}`);
  return JSON.parse(marked, (_, value) => (value && typeof value.$ === "string" ? BigInt(value.$) : value));
}

/** Of one record; their sum in a row tells from outside which records are in it. */
function identityHash(digestKey, partition, offset) {
  let z = (digestKey + (partition << 48n) + offset + 1n) & BITS_64;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & BITS_64;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & BITS_64;
  return z ^ (z >> 31n);
}

/** Rows by key and the next offset of each partition: one file. */
class Table {
  constructor(init) {
    this.path = path.join(init.folder, "table.json");
    this.digestKey = init.digest_key;
    this.rows = new Map();
    this.positions = Array(Number(init.partitions)).fill(0n);
    if (fs.existsSync(this.path)) {
      const stored = parse(fs.readFileSync(this.path, "utf8"));
      this.positions = stored.positions;
      for (const [key, value, counts, digest] of stored.rows) this.rows.set(key, { value, counts, digest });
    }
  }

  add(partition, offset, key, value) {
    // Sent again, maybe in one message with new records.
    if (offset < this.positions[partition]) return;
    let row = this.rows.get(key);
    if (!row) this.rows.set(key, (row = { value: 0n, counts: this.positions.map(() => 0n), digest: 0n }));
    row.value += value;
    row.counts[partition] += 1n;
    row.digest = (row.digest + identityHash(this.digestKey, partition, offset)) & BITS_64;
    this.positions[partition] = offset + 1n;
  }

  /** All or nothing: another file, which then takes the name. */
  persist() {
    const rows = [...this.rows].map(
      ([key, row]) => `[${JSON.stringify(key)},${row.value},[${row.counts}],${row.digest}]`,
    );
    const file = fs.openSync(`${this.path}.new`, "w");
    fs.writeSync(file, `{"rows":[${rows}],"positions":[${this.positions}]}`);
    fs.fsyncSync(file);
    fs.closeSync(file);
    fs.renameSync(`${this.path}.new`, this.path);
  }
}

let table = null;

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = parse(line);
  if (message.type === "init") {
    table = new Table(message);
    process.stdout.write(`{"type":"ready","version":1,"positions":[${table.positions}]}\n`);
    return;
  }
  const { partition, offset } = message;
  message.records.forEach(([key, value], index) => table.add(partition, offset + BigInt(index), key, value));
  table.persist();
  process.stdout.write(`{"type":"ack","partition":${partition},"offset":${table.positions[partition] - 1n}}\n`);
});
