"""The kernel's descriptor table is large from startup.

When it is full, the thread that opens the next descriptor sleeps while the kernel enlarges it, and every call of the worker
waits for up to 20 ms.
"""

from pathlib import Path

import pytest

from resources.descriptors import limited_to

pytestmark = pytest.mark.alone

RESERVED = 16384
CONFIGURATION = """
listen: 127.0.0.1:0
interceptors: [ { respond: { body: ok } } ]
"""


@pytest.mark.parametrize("limit", [1024, 20000])
def test_the_table_has_room(martlet, limit):
    proxy = martlet(CONFIGURATION, **limited_to(limit, limit))
    status = dict(line.split(":", 1) for line in Path(f"/proc/{proxy.pid}/status").read_text().splitlines())
    assert int(status["FDSize"]) >= min(limit, RESERVED)
