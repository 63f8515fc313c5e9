"""One folder an assignment; ``graphs`` is what the labs about graphs share."""
