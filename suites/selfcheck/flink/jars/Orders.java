import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.reader.TextLineInputFormat;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/** Orders as they come in, each once: files appear with their checkpoint. Imports nothing of Holdfast. */
public class Orders {
    public static void main(String[] arguments) throws Exception {
        String input = arguments[1], output = arguments[3];
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        FileSource<String> orders = FileSource.forRecordStreamFormat(new TextLineInputFormat(), new Path(input))
            .monitorContinuously(Duration.ofMillis(200)).build();
        environment.fromSource(orders, WatermarkStrategy.noWatermarks(), "orders")
            .keyBy(String::hashCode)
            .map(order -> order)
            .returns(String.class)
            .sinkTo(FileSink.forRowFormat(new Path(output), new SimpleStringEncoder<String>())
                .withRollingPolicy(OnCheckpointRollingPolicy.build()).build());
        environment.execute("orders");
    }
}
