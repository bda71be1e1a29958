"""Between which limits a chance is announced to lie, so that no reader of three models becomes too sure of a secret."""
