"""From a few answers to the files of a source package that works at once."""
