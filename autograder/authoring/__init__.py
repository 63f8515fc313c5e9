"""From text sources to notebooks, pictures and cases."""
