/* A program that sums values by key: it persists sums and positions together, and then acknowledges.
 *
 * The protocol is JSON, one message a line, on standard input and output. Killed at any moment, nothing is lost: what is
 * not in the table was not acknowledged, and is sent again. Nothing counts twice: what is in the table lies below its
 * position, and is passed over.
 *
 * It needs no library: `Json`, at the end, reads what the protocol has.
 */
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

class Program {
    static final class Row {
        long value;
        long digest;
        final long[] counts;

        Row(int partitions) {
            counts = new long[partitions];
        }
    }

    final Path path;
    final long digestKey;
    final Map<String, Row> rows = new LinkedHashMap<>();
    final long[] positions;
    long checkpoint;

    /** Of one record; their sum in a row tells from outside which records are in it. */
    static long identityHash(long digestKey, long partition, long offset) {
        long z = digestKey + (partition << 48) + offset + 1;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    /** Rows by key, the next offset of each partition, the number of the checkpoint: one file. */
    Program(Map<String, Object> init) throws IOException {
        path = Path.of((String) init.get("folder"), "table.json");
        digestKey = Long.parseUnsignedLong((String) init.get("digest_key"));
        positions = new long[number(init.get("partitions"))];
        if (!Files.exists(path)) {
            return;
        }
        Map<String, Object> stored = Json.object(Files.readString(path));
        for (Object each : list(stored.get("rows"))) {
            List<Object> fields = list(each);
            Row row = new Row(positions.length);
            row.value = (Long) fields.get(1);
            copy(fields.get(2), row.counts);
            row.digest = Long.parseUnsignedLong((String) fields.get(3));
            rows.put((String) fields.get(0), row);
        }
        copy(stored.get("positions"), positions);
        checkpoint = (Long) stored.get("checkpoint");
    }

    void add(int partition, long offset, String key, long value) {
        // Sent again, maybe in one message with new records.
        if (offset < positions[partition]) {
            return;
        }
        Row row = rows.computeIfAbsent(key, absent -> new Row(positions.length));
        row.value += value;
        row.counts[partition]++;
        row.digest += identityHash(digestKey, partition, offset);
        positions[partition] = offset + 1;
    }

    /** All or nothing: another file, which then takes the name. */
    void persist() throws IOException {
        checkpoint++;
        List<String> stored = new ArrayList<>();
        rows.forEach((key, row) -> stored.add(String.format(
                "[%s,%d,%s,\"%s\"]",
                Json.quoted(key), row.value, Arrays.toString(row.counts), Long.toUnsignedString(row.digest))));
        Path other = path.resolveSibling("table.new");
        try (FileOutputStream file = new FileOutputStream(other.toFile())) {
            String text = String.format(
                    "{\"rows\":%s,\"positions\":%s,\"checkpoint\":%d}", stored, Arrays.toString(positions), checkpoint);
            file.write(text.getBytes(StandardCharsets.UTF_8));
            file.getFD().sync();
        }
        Files.move(other, path, StandardCopyOption.ATOMIC_MOVE);
    }

    static void say(String message, Object... fields) {
        System.out.println(String.format(message, fields));
        System.out.flush();
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Object> init = Json.object(input.readLine());
        String digests = list(init.get("self_test")).stream().map(Program::list).map(each -> {
            long key = Long.parseUnsignedLong((String) each.get(0));
            long hash = identityHash(key, (Long) each.get(1), (Long) each.get(2));
            return Json.quoted(Long.toUnsignedString(hash));
        }).collect(Collectors.joining(","));
        say("{\"type\":\"hello\",\"version\":2,\"claims\":\"exactly-once\",\"digests\":[%s],"
                + "\"offers\":[\"checkpoints\"]}", digests);
        Program table = new Program(init);
        if (table.checkpoint > 0) {
            say("{\"type\":\"restored\",\"checkpoint\":%d}", table.checkpoint);
        }
        say("{\"type\":\"ready\",\"positions\":%s}", Arrays.toString(table.positions));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            Map<String, Object> message = Json.object(line);
            int partition = number(message.get("partition"));
            long offset = (Long) message.get("offset");
            for (Object each : list(message.get("records"))) {
                table.add(partition, offset++, (String) list(each).get(0), (Long) list(each).get(1));
            }
            table.persist();
            say("{\"type\":\"checkpoint\",\"checkpoint\":%d,\"positions\":%s}",
                    table.checkpoint, Arrays.toString(table.positions));
            say("{\"type\":\"ack\",\"partition\":%d,\"offset\":%d}", partition, table.positions[partition] - 1);
        }
    }

    static int number(Object value) {
        return Math.toIntExact((Long) value);
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    static void copy(Object values, long[] into) {
        Arrays.setAll(into, index -> (Long) list(values).get(index));
    }
}

/** JSON without fractions: an object is a Map, a list a List, a number a Long. */
class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        return (Map<String, Object>) new Json(text).value();
    }

    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private char next() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at);
    }

    private boolean closes(char bracket) {
        boolean over = next() == bracket;
        if (over || text.charAt(at) == ',') {
            at++;
        }
        return over;
    }

    private Object value() {
        char first = next();
        if (first == '"') {
            return string();
        }
        int start = at++;
        if (first == '{') {
            Map<String, Object> found = new LinkedHashMap<>();
            while (!closes('}')) {
                next();
                String name = string();
                next();
                at++; // The colon.
                found.put(name, value());
            }
            return found;
        }
        if (first == '[') {
            List<Object> found = new ArrayList<>();
            while (!closes(']')) {
                found.add(value());
            }
            return found;
        }
        while (at < text.length() && Character.isDigit(text.charAt(at))) {
            at++;
        }
        return Long.parseLong(text.substring(start, at));
    }

    private String string() {
        StringBuilder found = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) != '\\') {
                found.append(text.charAt(at));
            } else if (text.charAt(++at) == 'u') {
                found.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                at += 4;
            } else {
                int escape = "nrtbf".indexOf(text.charAt(at));
                found.append(escape < 0 ? text.charAt(at) : "\n\r\t\b\f".charAt(escape));
            }
        }
        at++;
        return found.toString();
    }
}
