"""Errors about data: files that cannot be read, sets that are not there, arrays that do not fit."""

from __future__ import annotations


class DataError(ValueError):
    """A file that is not what it should be, or arrays that do not fit together."""


class MissingDataError(DataError, FileNotFoundError):
    """A data set that is nowhere to be found; the message says where one looked."""
