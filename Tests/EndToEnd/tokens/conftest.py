"""Fixtures of the tests of tokens."""

import pytest

from tokens.token_callers import Callers
from tokens.token_services import TokenServices


@pytest.fixture
def token_services(running):
    """Starts services of every protocol that accept only tokens of an identity provider."""
    return lambda provider, **settings: running(TokenServices(provider, **settings))


@pytest.fixture
def callers(running):
    """Makes callers of every protocol, through a daemon or straight to the services of the tests."""

    def make(target):
        is_direct = isinstance(target, TokenServices)
        return running(Callers.straight_to(target) if is_direct else Callers.through(target))

    return make
