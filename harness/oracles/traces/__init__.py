"""What happened, read off a history: the facts that oracles decide on."""
