"""The command as it is treated in the field: ended, killed, lied to. Everything here is a real process."""
