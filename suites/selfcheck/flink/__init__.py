"""Flink under the harness: its log, its configuration, and real runs that are left to the night."""
