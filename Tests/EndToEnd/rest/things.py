"""Where the schema is, and the part of a configuration that has Martlet know it."""

from pathlib import Path

SCHEMAS = Path(__file__).parent / "schemas"
SERVICE = "rest.v1.Things"


def options(file, more=""):
    """The value of `types`."""
    return f"{{ files: [{file}], rest: [{SERVICE}]{more and ', ' + more} }}"
