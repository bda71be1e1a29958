"""What is published: the public model and the documents rendered from it."""
