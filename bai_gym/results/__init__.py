"""What an evaluation finds out, and its files: the writer, the reader, and recordings of episodes."""
