"""One folder an assignment: its hidden cases, how they are made, what its judge needs."""
