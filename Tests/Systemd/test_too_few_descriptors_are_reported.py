"""A service with LimitNOFILE=1024 and a file that allows more connections starts, and says what to do."""

from support.callers import call
from machine.service import responses

LISTENER = '\n  - { address: "127.0.0.1:8080", limits: { connections: 5000 } }'


def test_it_starts_and_warns(service):
    service.drop_in("[Service]\nLimitNOFILE=1024\n")
    service.start(responses(listen=LISTENER).replace("listen:", "listeners:"))
    service.wait_for_log(r"1024.*LimitNOFILE|LimitNOFILE.*1024")
    assert call() == (200, "ok")
