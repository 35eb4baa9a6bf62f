"""The parts of the reference runtime that read options."""
