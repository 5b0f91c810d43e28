"""The executor: runs user functions, with a timeout and an error policy.

``functions`` calls them and checks what they return, ``callbacks`` runs them here, in a thread, or in a worker process
that can be killed (``worker``), and ``executor`` has the error policy.
"""
