"""What is announced in place of the true decision mapping."""
