"""Problems of the wing ``correlated``."""
