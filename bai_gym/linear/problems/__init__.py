"""Problems of the wing ``linear``."""
