"""The schemas of this folder, as the binary knows them and as the published library does."""

import pytest
from support.schemas import Types, all_schemas
from support.schemas import classes as classes_of_all


@pytest.fixture(scope="session")
def types(binary, tmp_path_factory):
    """`martlet types` that knows all schemas."""
    return Types(tmp_path_factory.mktemp("types"), all_schemas())


@pytest.fixture(scope="session")
def classes():
    """The classes of all schemas: the oracle."""
    return classes_of_all()
