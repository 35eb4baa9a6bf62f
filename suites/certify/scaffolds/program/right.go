// A program that sums values by key: it persists sums and positions together, and then acknowledges.
//
// The protocol is JSON, one message a line, on standard input and output. Killed at any moment, nothing is lost: what is
// not in the table was not acknowledged, and is sent again. Nothing counts twice: what is in the table lies below its
// position, and is passed over.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strconv"
)

// Message is any of the protocol.
type Message struct {
	Type       string     `json:"type"`
	Folder     string     `json:"folder"`
	Partitions int        `json:"partitions"`
	DigestKey  uint64     `json:"digest_key,string"`
	SelfTest   []Identity `json:"self_test"`
	Partition  int        `json:"partition"`
	Offset     uint64     `json:"offset"`
	Records    []Record   `json:"records"`
}

// Identity is [digest_key, partition, offset]; the first, of 64 bits, is text.
type Identity struct {
	DigestKey         string
	Partition, Offset uint64
}

func (i *Identity) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&i.DigestKey, &i.Partition, &i.Offset})
}

// Record is [key, value].
type Record struct {
	Key   string
	Value int64
}

func (r *Record) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&r.Key, &r.Value})
}

// Row is [key, value, counts, digest].
type Row struct {
	Key    string
	Value  int64
	Counts []uint64
	Digest uint64
}

func (r *Row) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{r.Key, r.Value, r.Counts, r.Digest})
}

func (r *Row) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&r.Key, &r.Value, &r.Counts, &r.Digest})
}

// Table is rows by key, the next offset of each partition and the number of the checkpoint: one file.
type Table struct {
	path       string
	digestKey  uint64
	byKey      map[string]*Row
	Rows       []*Row   `json:"rows"`
	Positions  []uint64 `json:"positions"`
	Checkpoint int      `json:"checkpoint"`
}

// identityHash is that of one record; their sum in a row tells from outside which records are in it.
func identityHash(digestKey, partition, offset uint64) uint64 {
	z := digestKey + partition<<48 + offset + 1
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func open(init Message) *Table {
	table := &Table{
		path:      filepath.Join(init.Folder, "table.json"),
		digestKey: init.DigestKey,
		byKey:     map[string]*Row{},
		Rows:      []*Row{},
		Positions: make([]uint64, init.Partitions),
	}
	text, err := os.ReadFile(table.path)
	if errors.Is(err, fs.ErrNotExist) {
		return table
	}
	check(err)
	check(json.Unmarshal(text, table))
	for _, row := range table.Rows {
		table.byKey[row.Key] = row
	}
	return table
}

func (t *Table) add(partition int, offset uint64, record Record) {
	// Sent again, maybe in one message with new records.
	if offset < t.Positions[partition] {
		return
	}
	row := t.byKey[record.Key]
	if row == nil {
		row = &Row{Key: record.Key, Counts: make([]uint64, len(t.Positions))}
		t.byKey[record.Key] = row
		t.Rows = append(t.Rows, row)
	}
	row.Value += record.Value
	row.Counts[partition]++
	row.Digest += identityHash(t.digestKey, uint64(partition), offset)
	t.Positions[partition] = offset + 1
}

// persist is all or nothing: another file, which then takes the name.
func (t *Table) persist() {
	t.Checkpoint++
	text, err := json.Marshal(t)
	check(err)
	file, err := os.Create(t.path + ".new")
	check(err)
	_, err = file.Write(text)
	check(err)
	check(file.Sync())
	check(file.Close())
	check(os.Rename(file.Name(), t.path))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// fields are those of a message beside its type.
type fields map[string]any

func main() {
	input, output := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	say := func(kind string, message fields) {
		message["type"] = kind
		check(output.Encode(message))
	}
	var init Message
	check(input.Decode(&init))
	digests := []string{}
	for _, each := range init.SelfTest {
		key, err := strconv.ParseUint(each.DigestKey, 10, 64)
		check(err)
		digests = append(digests, strconv.FormatUint(identityHash(key, each.Partition, each.Offset), 10))
	}
	say("hello", fields{"version": 2, "claims": "exactly-once", "digests": digests, "offers": []string{"checkpoints"}})
	table := open(init)
	if table.Checkpoint > 0 {
		say("restored", fields{"checkpoint": table.Checkpoint})
	}
	say("ready", fields{"positions": table.Positions})
	for {
		var message Message
		err := input.Decode(&message)
		if errors.Is(err, io.EOF) {
			return
		}
		check(err)
		for index, record := range message.Records {
			table.add(message.Partition, message.Offset+uint64(index), record)
		}
		table.persist()
		say("checkpoint", fields{"checkpoint": table.Checkpoint, "positions": table.Positions})
		say("ack", fields{"partition": message.Partition, "offset": table.Positions[message.Partition] - 1})
	}
}
