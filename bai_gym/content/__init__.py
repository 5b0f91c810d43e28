"""What outcomes depend on, as digests: parameters, source files, and the library itself with the versions below it."""
