"""The kit for checkpoint storages; how to use it is in suites/certify/README.md.

from holdfast.suites.certify import checkpoint_storage

test_my_storage = checkpoint_storage.kit("mypkg.storage:factory")

It shares no code with any storage. It attacks from outside alone: other processes that die or stand still at any call,
a relay that loses requests and answers, bits that change where files lie. What cannot be reached so, a check says.
"""

from __future__ import annotations

from holdfast.suites.certify.checkpoint_storage.kit import CHECKS, certify, kit
from holdfast.suites.certify.checkpoint_storage.target import target_of
from holdfast.suites.certify.outside.target import Target

__all__ = ["CHECKS", "Target", "certify", "kit", "target_of"]
