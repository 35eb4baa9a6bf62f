"""Orders written by `foreachBatch`, which skips a batch that it has written already, by its id. It has a next version."""

SCHEMA = "order_id long, amount double, at timestamp"
TIME = "at"
IDENTITY = "order_id"
GUARANTEE = "exactly-once"
NEXT = "orders_v2.py"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


def written(spark, folder):
    path = spark._jvm.org.apache.hadoop.fs.Path(f"{folder}/_SUCCESS")
    return path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).exists(path)


def build(spark, endpoints):
    def write(batch, number):
        folder = f"{endpoints.output}/batch-{number:06}"
        if not written(spark, folder):
            batch.write.mode("overwrite").parquet(folder)

    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(write))
