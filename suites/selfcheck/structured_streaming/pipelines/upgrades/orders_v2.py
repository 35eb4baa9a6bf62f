"""Right: the same in a class, with a column more, and under the same names."""

from pyspark.sql import functions as F

SCHEMA = "order_id long, amount double, at timestamp"
TIME = "at"
IDENTITY = "order_id"
GUARANTEE = "exactly-once"


def generate(number, partition, offset, random):
    return {"order_id": number, "amount": random.uniform(1, 100)}


class Folders:
    def __init__(self, spark, output):
        self.spark = spark
        self.output = output

    def holds(self, folder):
        path = self.spark._jvm.org.apache.hadoop.fs.Path(f"{folder}/_SUCCESS")
        return path.getFileSystem(self.spark._jsparkSession.sessionState().newHadoopConf()).exists(path)

    def add(self, orders, number):
        folder = f"{self.output}/batch-{number:06}"
        if not self.holds(folder):
            orders.withColumn("cents", F.round(orders.amount * 100)).write.mode("overwrite").parquet(folder)


def build(spark, endpoints):
    folders = Folders(spark, endpoints.output)
    return endpoints.start(endpoints.read(spark).writeStream.foreachBatch(folders.add))
