"""Right: the team's own transactional producer in foreachBatch. The id of the micro-batch is committed in the same
transaction, as the offset of a consumer group, and a micro-batch that is committed already is skipped."""

import json

CONTRACT = "records"
OUTPUT = {"kind": "topic"}


def build(spark, endpoints, records_batch=True):
    kafka = spark._jvm.org.apache.kafka
    settings = spark._jvm.java.util.HashMap()
    group = f"{endpoints.output_topic}-batches"
    strings, numbers = (f"org.apache.kafka.common.serialization.{name}" for name in ("String", "ByteArray"))
    for key, value in {
        "bootstrap.servers": endpoints.bootstrap,
        "key.serializer": f"{strings}Serializer",
        "value.serializer": f"{strings}Serializer",
        "key.deserializer": f"{numbers}Deserializer",
        "value.deserializer": f"{numbers}Deserializer",
        "transactional.id": group,
        "group.id": group,
    }.items():
        settings.put(key, value)
    place = kafka.common.TopicPartition(endpoints.output_topic, 0)
    producer = kafka.clients.producer.KafkaProducer(settings)
    producer.initTransactions()  # Fences the producer of a driver that was killed, and aborts what it left open.

    def next_batch():
        consumer = kafka.clients.consumer.KafkaConsumer(settings)
        committed = consumer.committed(spark._jvm.java.util.Collections.singleton(place)).get(place)
        consumer.close()
        return 0 if committed is None else committed.offset()

    def write(batch, number):
        if records_batch and number < next_batch():
            return
        producer.beginTransaction()
        for row in batch.select("key", "partition", "offset").collect():
            message = json.dumps({"partition": row.partition, "offset": row.offset})
            producer.send(kafka.clients.producer.ProducerRecord(endpoints.output_topic, row.key, message))
        if records_batch:
            offsets = spark._jvm.java.util.HashMap()
            offsets.put(place, kafka.clients.consumer.OffsetAndMetadata(number + 1))
            producer.sendOffsetsToTransaction(offsets, kafka.clients.consumer.ConsumerGroupMetadata(group))
        producer.commitTransaction()

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
