"""The parts of pictures that all labs share: documents, axes, bars, values that draw themselves."""
