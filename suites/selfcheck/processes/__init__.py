"""The process driver on trial: real processes, real sockets, real files, real kills."""
