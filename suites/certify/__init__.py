"""Kits: each judges one contract of the SPI, whoever implements it. They share no code with what they judge."""
