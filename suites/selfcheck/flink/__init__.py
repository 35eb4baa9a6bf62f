"""Flink under the harness: what its log tells, what it is told, and real runs that are left to the night."""
