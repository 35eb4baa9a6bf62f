"""What pipelines declare, are fed and commit, whichever engine runs them."""
