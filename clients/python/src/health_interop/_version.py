"""The version of the library."""

__version__ = "1.2.0"
