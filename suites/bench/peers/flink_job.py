"""Submits the peers' job to a Flink cluster and prints its id. Run by the interpreter of Flink's own environment.

python flink_job.py SPECIFICATION, where that is JSON: `input`, `monitor_interval` (empty: the input is complete),
`key_type`, `options`.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

QUERY = "INSERT INTO sums SELECT `key`, SUM(`value`), COUNT(*) FROM flights GROUP BY `key`"


def main(text: str) -> None:
    """Submit."""
    specification = json.loads(text)
    # By name: the package is in the environment of the peer only, not where types are checked.
    table = import_module("pyflink.table")
    configuration = import_module("pyflink.common").Configuration()
    for key, value in specification["options"].items():
        configuration.set_string(key, value)
    settings = table.EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    environment = table.TableEnvironment.create(settings)
    key_type, interval = specification["key_type"], specification["monitor_interval"]
    monitoring = f", 'source.monitor-interval' = '{interval}'" if interval else ""
    environment.execute_sql(
        f"CREATE TABLE flights (`key` {key_type}, `value` BIGINT) WITH ('connector' = 'filesystem', "
        f"'path' = 'file://{specification['input']}', 'format' = 'parquet'{monitoring})"
    )
    environment.execute_sql(
        f"CREATE TABLE sums (`key` {key_type}, total BIGINT, records BIGINT, PRIMARY KEY (`key`) NOT ENFORCED) "
        "WITH ('connector' = 'blackhole')"
    )
    print(environment.execute_sql(QUERY).get_job_client().get_job_id())


if __name__ == "__main__":
    main(sys.argv[1])
