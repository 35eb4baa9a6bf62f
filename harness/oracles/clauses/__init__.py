"""Parts of oracles: each decides some clauses of the one that its first line names."""
