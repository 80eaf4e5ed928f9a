"""Calls through Martlet in the protocol that it is told; after SIGTERM with new connections, too. Exits 9 if every call was good."""

import os
import signal
import sys
import threading

import httpx
from connectrpc.protocol import ProtocolType

from support.servers.eliza import Client

url = f"http://{os.environ['MARTLET_ADDRESS']}"
protocol, http = sys.argv[1], int(sys.argv[2])
is_over = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: is_over.set())
results = []


def caller():
    """A function that makes one call, on a connection of its own."""
    if protocol == "http":
        client = httpx.Client(http1=http == 1, http2=http == 2, trust_env=False, verify=False)
        body = {"json": {"sentence": "hi"}}
        return lambda: client.post(f"{url}/connectrpc.eliza.v1.ElizaService/Say", **body).raise_for_status().json()["sentence"]
    client = Client(url, "proto", http, protocol=ProtocolType[protocol.upper()])
    return lambda: client.say("hi")


def keep_calling():
    call = caller()
    while not is_over.is_set():
        results.append(call())


threads = [threading.Thread(target=keep_calling) for _ in range(4)]
for thread in threads:
    thread.start()
while len(results) < 4 and any(thread.is_alive() for thread in threads):
    is_over.wait(0.01)
print("calling", flush=True)
is_over.wait()
for thread in threads:
    thread.join()
for _ in range(4):
    results.append(caller()())
assert all(results), results
print(f"{len(results)} calls, all good", flush=True)
sys.exit(9)
