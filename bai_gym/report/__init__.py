"""Tables, figures and web pages from results."""
