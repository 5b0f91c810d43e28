"""What outcomes depend on, as digests: values, source files, and the library itself."""
