"""Pages of the documentation site that are written by the code they are about, when the site is built."""
