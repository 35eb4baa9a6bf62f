"""The verdict shown: one consumer of the Journal per file.

Rules of this package:
- A reporter shows; it never computes a verdict. What it prints is a field of the Journal, or a count of such fields.
- It imports `holdfast.harness.model` and `holdfast.harness.spi`, nothing else of ours, and no two reporters know each
  other: what they share is `view` and `recovery` (the Journal regrouped), `text` (how values are written), `files`
  (how they are stored) and `pictures` (how pictures are drawn).
- Equal journals give equal bytes: no clock, no random name, no host in any output.
- Every output appears whole or not at all, and no journal is refused: a report is wanted most when things went wrong.
- PARTIAL and REFUSED reports never use the word that only a full certificate earns.
"""
