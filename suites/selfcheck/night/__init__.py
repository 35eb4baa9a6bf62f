"""The steps of `.ci/nightly`: the table, how one is run, and what a night comes to."""
