"""What the oracles of several areas use: facts read off a history, and their own reading of a job and its options."""
