"""Commands of the wing ``live``."""
