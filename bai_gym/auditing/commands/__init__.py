"""Commands of the wing ``auditing``."""
