"""A program that `token: { exec: ... }` starts may keep files in its HOME, and nowhere else."""

from support.callers import call

PROGRAM = """#!/bin/sh
touch "$HOME/kept" "$CACHE_DIRECTORY/kept" || exit 1
touch /etc/kept 2>/dev/null || echo "token-of-$HOME"
"""
CONFIGURATION = """
listen: 127.0.0.1:8080
upstream: {}
interceptors:
  - token: {{ exec: {{ command: [/usr/local/bin/fetch-token] }} }}
"""


def test_it_keeps_a_file(machine, service, recorder):
    upstream = recorder()
    machine.write("/usr/local/bin/fetch-token", PROGRAM, mode=0o755)
    service.start(CONFIGURATION.format(upstream.url))
    assert call()[0] == 200, service.log()
    assert upstream.requests[0].header("authorization") == "Bearer token-of-/var/lib/martlet"
    assert machine.run("stat --format '%a %U' /var/lib/martlet").stdout == "700 _martlet\n"
    assert machine.path("/var/lib/martlet/kept").exists() and machine.path("/var/cache/martlet/kept").exists()
