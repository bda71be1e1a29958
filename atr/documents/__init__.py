"""The public documents, rendered from the public report alone."""
