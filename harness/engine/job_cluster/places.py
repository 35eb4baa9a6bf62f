"""What lies in the folder of a cluster."""

from __future__ import annotations

ENDPOINT = "endpoint.json"
"""The address of its endpoint, while it runs."""
SETTINGS = "settings.json"
"""What it was started with."""
RUN = "run"
"""Folder of its deployment: input, output, checkpoints and events."""
LOG = "cluster.log"
"""What it says when it cannot run."""
