"""What ought to happen, in the oracles' own words: the job, its state, its options, its coordinator, its restarts."""
