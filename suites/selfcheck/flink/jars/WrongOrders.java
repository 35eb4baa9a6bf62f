import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.UUID;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Wrong: an order is visible as soon as it is read, whatever becomes of its checkpoint. */
public class WrongOrders {
    public static void main(String[] arguments) throws Exception {
        String input = arguments[1], output = arguments[3];
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        FileSource<String> orders = FileSource
            .forRecordStreamFormat(new TextLineInputFormat(), new org.apache.flink.core.fs.Path(input))
            .monitorContinuously(Duration.ofMillis(200)).build();
        environment.fromSource(orders, WatermarkStrategy.noWatermarks(), "orders")
            .keyBy(String::hashCode)
            .map(new WrittenAtOnce(output));
        environment.execute("orders");
    }

    static class WrittenAtOnce implements MapFunction<String, String> {
        private final String folder;

        WrittenAtOnce(String folder) {
            this.folder = folder;
        }

        @Override
        public String map(String order) throws Exception {
            Files.writeString(Paths.get(URI.create(folder)).resolve("part-" + UUID.randomUUID()), order + "\n");
            return order;
        }
    }
}
