"""What documents say, in English: texts made from the ids and numbers of the public report, which holds none itself."""
