"""What of our environment the system under test gets: a list of its adapter's, and what the user names here."""

from __future__ import annotations

PASSED_ON = "HOLDFAST_ENVIRONMENT"
"""An environment variable: names of others, with commas between them, that adapters pass on as well."""
