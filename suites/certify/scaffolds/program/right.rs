// A program that sums values by key: it persists sums and positions together, and then acknowledges.
//
// The protocol is JSON, one message a line, on standard input and output. Killed at any moment, nothing is lost: what is
// not in the table was not acknowledged, and is sent again. Nothing counts twice: what is in the table lies below its
// position, and is passed over.

use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

struct Row {
    value: i64,
    counts: Vec<u64>,
    digest: u64,
}

/// Rows by key, the next offset of each partition, the number of the checkpoint: one file.
struct Table {
    path: PathBuf,
    digest_key: u64,
    rows: BTreeMap<String, Row>,
    positions: Vec<u64>,
    checkpoint: u64,
}

/// Of one record; their sum in a row tells from outside which records are in it.
fn identity_hash(digest_key: u64, partition: u64, offset: u64) -> u64 {
    let mut z = digest_key.wrapping_add(partition << 48).wrapping_add(offset).wrapping_add(1);
    z = (z ^ z >> 30).wrapping_mul(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D049BB133111EB);
    z ^ z >> 31
}

/// Numbers of 64 bits are text.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| value.as_str().and_then(|text| text.parse().ok()).expect("a number"))
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_string()
}

impl Table {
    fn open(init: &Value) -> Outcome<Table> {
        let mut table = Table {
            path: PathBuf::from(text(&init["folder"])).join("table.json"),
            digest_key: number(&init["digest_key"]),
            rows: BTreeMap::new(),
            positions: vec![0; number(&init["partitions"]) as usize],
            checkpoint: 0,
        };
        if table.path.exists() {
            let stored: Value = serde_json::from_slice(&fs::read(&table.path)?)?;
            for row in stored["rows"].as_array().expect("rows") {
                let value = row[1].as_i64().expect("a value");
                table.rows.insert(text(&row[0]), Row { value, counts: numbers(&row[2]), digest: number(&row[3]) });
            }
            table.positions = numbers(&stored["positions"]);
            table.checkpoint = number(&stored["checkpoint"]);
        }
        Ok(table)
    }

    fn add(&mut self, partition: usize, offset: u64, key: &str, value: i64) {
        // Sent again, maybe in one message with new records.
        if offset < self.positions[partition] {
            return;
        }
        let counts = vec![0; self.positions.len()];
        let row = self.rows.entry(key.to_string()).or_insert(Row { value: 0, counts, digest: 0 });
        row.value += value;
        row.counts[partition] += 1;
        row.digest = row.digest.wrapping_add(identity_hash(self.digest_key, partition as u64, offset));
        self.positions[partition] = offset + 1;
    }

    /// All or nothing: another file, which then takes the name.
    fn persist(&mut self) -> Outcome<()> {
        self.checkpoint += 1;
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|(key, row)| json!([key, row.value, row.counts, row.digest.to_string()]))
            .collect();
        let stored = json!({"rows": rows, "positions": self.positions, "checkpoint": self.checkpoint});
        let new = self.path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(stored.to_string().as_bytes())?;
        file.sync_all()?;
        Ok(fs::rename(new, &self.path)?)
    }
}

fn say(message: Value) -> Outcome<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{message}")?;
    Ok(output.flush()?)
}

fn main() -> Outcome<()> {
    let mut lines = io::stdin().lock().lines();
    let init: Value = serde_json::from_str(&lines.next().ok_or("no init")??)?;
    let identities = init["self_test"].as_array().expect("identities");
    let hash = |each: &Value| identity_hash(number(&each[0]), number(&each[1]), number(&each[2])).to_string();
    let digests: Vec<String> = identities.iter().map(hash).collect();
    say(json!({
        "type": "hello", "version": 2, "claims": "exactly-once", "digests": digests, "offers": ["checkpoints"]
    }))?;
    let mut table = Table::open(&init)?;
    if table.checkpoint > 0 {
        say(json!({"type": "restored", "checkpoint": table.checkpoint}))?;
    }
    say(json!({"type": "ready", "positions": table.positions}))?;
    for line in lines {
        let message: Value = serde_json::from_str(&line?)?;
        let (partition, first) = (number(&message["partition"]) as usize, number(&message["offset"]));
        for (record, offset) in message["records"].as_array().expect("records").iter().zip(first..) {
            table.add(partition, offset, record[0].as_str().expect("a key"), record[1].as_i64().expect("a value"));
        }
        table.persist()?;
        say(json!({"type": "checkpoint", "checkpoint": table.checkpoint, "positions": table.positions}))?;
        say(json!({"type": "ack", "partition": partition, "offset": table.positions[partition] - 1}))?;
    }
    Ok(())
}
