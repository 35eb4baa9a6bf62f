import java.io.File;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.apache.flink.api.common.ExecutionConfig;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.TaskInfoImpl;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.disk.iomanager.IOManager;
import org.apache.flink.runtime.io.disk.iomanager.IOManagerAsync;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.query.KvStateRegistry;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateBackendParametersImpl;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.runtime.state.ttl.TtlTimeProvider;
import org.apache.flink.runtime.taskexecutor.TaskManagerConfiguration;
import org.apache.flink.runtime.taskmanager.TaskManagerRuntimeInfo;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.util.SimpleUserCodeClassLoader;

/** The program of `state_backends` on a state backend of Flink: put, get, merge and records, in microseconds each. */
public class FlinkState {
    static final long MANAGED_BYTES = 64L << 20;

    public static void main(String[] arguments) throws Exception {
        int keys = Integer.parseInt(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        File folder = Files.createTempDirectory("flink-state").toFile();
        Configuration configuration = new Configuration();
        boolean onDisk = arguments[0].equals("rocksdb");
        StateBackend kind = onDisk ? new EmbeddedRocksDBStateBackend(true) : new HashMapStateBackend();
        try (MemoryAndDisk place = new MemoryAndDisk(folder)) {
            Environment environment = environment(place, configuration);
            for (int round = 0; round < rounds; round++) {
                var parameters = new KeyedStateBackendParametersImpl<Long>(
                    environment, new JobID(), "operator-" + round, LongSerializer.INSTANCE, 8, KeyGroupRange.of(0, 7),
                    environment.getTaskKvStateRegistry(), TtlTimeProvider.DEFAULT, new UnregisteredMetricsGroup(),
                    (name, value) -> {}, Collections.emptyList(), new CloseableRegistry(), 1.0);
                var backend = (AbstractKeyedStateBackend<Long>) kind.createKeyedStateBackend(parameters);
                measure(backend, keys, round == rounds - 1);
                backend.dispose();
            }
        }
        System.exit(0);
    }

    static void measure(AbstractKeyedStateBackend<Long> backend, int keys, boolean told) throws Exception {
        ValueState<byte[]> values = backend.getPartitionedState(
            VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE,
            new ValueStateDescriptor<>("value", BytePrimitiveArraySerializer.INSTANCE));
        ReducingState<Long> sums = backend.getPartitionedState(
            VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE,
            new ReducingStateDescriptor<>("sum", Long::sum, LongSerializer.INSTANCE));
        List<Long> names = new ArrayList<>();
        for (long key = 0; key < keys; key++) names.add(key);
        Collections.shuffle(names, new Random(1));
        List<Long> some = names.subList(0, Math.max(1, keys / 4));
        byte[] value = new byte[40];
        long begun = System.nanoTime();
        for (Long key : names) {
            backend.setCurrentKey(key);
            values.update(value.clone());
        }
        double put = since(begun, names);
        begun = System.nanoTime();
        long held = 0;
        for (Long key : some) {
            backend.setCurrentKey(key);
            held += values.value().length;
        }
        double get = since(begun, some);
        begun = System.nanoTime();
        for (Long key : some) {
            backend.setCurrentKey(key);
            sums.add(1L);
        }
        double merge = since(begun, some);
        begun = System.nanoTime();
        for (Long key : some) {
            backend.setCurrentKey(key);
            byte[] old = values.value();
            byte[] next = new byte[40];
            System.arraycopy(old, 0, next, 0, 32);
            values.update(next);
        }
        double record = since(begun, some);
        if (held != 40L * some.size()) throw new IllegalStateException("a value is lost");
        String figures = "{\"put\": %s, \"get\": %s, \"merge\": %s, \"records\": %s}";
        if (told) System.out.println(String.format(figures, put, get, merge, 1e6 / record));
    }

    static double since(long begun, List<Long> keys) {
        return (System.nanoTime() - begun) / 1e3 / keys.size();
    }

    record MemoryAndDisk(File folder, MemoryManager memory, IOManager disk) implements AutoCloseable {
        MemoryAndDisk(File folder) {
            this(folder, MemoryManager.create(MANAGED_BYTES, MemoryManager.DEFAULT_PAGE_SIZE),
                new IOManagerAsync(folder.getPath()));
        }

        public void close() throws Exception {
            disk.close();
            memory.shutdown();
        }
    }

    /** As much of a task as a state backend asks for; anything else is an error. */
    static Environment environment(MemoryAndDisk place, Configuration configuration) {
        ExecutionConfig execution = new ExecutionConfig();
        JobID job = new JobID();
        TaskInfo task = new TaskInfoImpl("task", 8, 0, 1, 0);
        TaskManagerRuntimeInfo manager = answering(TaskManagerRuntimeInfo.class, name -> switch (name) {
            case "getTmpDirectories" -> new String[] {place.folder().getPath()};
            case "getTmpWorkingDirectory" -> place.folder();
            case "getConfiguration" -> configuration;
            case "getTaskManagerExternalAddress", "getTaskManagerBindAddress" -> "localhost";
            default -> null;
        });
        TaskStateManager states = answering(TaskStateManager.class, name -> switch (name) {
            case "createLocalRecoveryConfig" -> LocalRecoveryConfig.BACKUP_AND_RECOVERY_DISABLED;
            default -> null;
        });
        var registry = new KvStateRegistry().createTaskRegistry(job, new JobVertexID());
        return answering(Environment.class, name -> switch (name) {
            case "getExecutionConfig" -> execution;
            case "getJobID" -> job;
            case "getTaskInfo" -> task;
            case "getTaskManagerInfo" -> manager;
            case "getTaskStateManager" -> states;
            case "getIOManager" -> place.disk();
            case "getMemoryManager" -> place.memory();
            case "getTaskConfiguration", "getJobConfiguration" -> configuration;
            case "getUserCodeClassLoader" -> SimpleUserCodeClassLoader.create(FlinkState.class.getClassLoader());
            case "getTaskKvStateRegistry" -> registry;
            default -> null;
        });
    }

    @SuppressWarnings("unchecked")
    static <T> T answering(Class<T> kind, Function<String, Object> answers) {
        return (T) Proxy.newProxyInstance(kind.getClassLoader(), new Class<?>[] {kind}, (proxy, method, arguments) -> {
            Object answer = answers.apply(method.getName());
            if (answer == null) throw new UnsupportedOperationException(kind.getSimpleName() + "." + method.getName());
            return answer;
        });
    }
}
