"""What outcomes depend on, as digests: parameters, source files, the library and what it uses."""
