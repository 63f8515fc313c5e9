"""Networks under a training job. Import from the modules: nothing stands here."""
