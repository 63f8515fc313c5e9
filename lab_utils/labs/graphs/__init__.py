"""What the labs about graphs share."""
