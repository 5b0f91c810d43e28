"""The figures of the papers as data, with their claims."""
