"""What carries bytes between processes: an event loop, sockets, and a relay that impairs what it carries.

Rules of this package:
- It understands nothing of what it carries.
- A cut takes and passes nothing until it is undone; then everything that was sent arrives, in order.
"""
