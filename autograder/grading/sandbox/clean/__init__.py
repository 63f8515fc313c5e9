"""What comes out of a sandbox, made fit to be read and shown."""
