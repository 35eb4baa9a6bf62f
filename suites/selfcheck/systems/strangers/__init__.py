"""Programs as somebody else may write them, right and wrong in ways that the harness does not know; run as scripts."""
