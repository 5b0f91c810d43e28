"""Problems of the wing ``datasets``."""
