"""The programs that make calls, pinned beside the backend, and what they say."""

import json
import os
import re
import subprocess
from pathlib import Path

from process import REST, Failed
from stage import REQUESTS


def run(command, seconds):
    """The output of a program that ends by itself."""
    pin = lambda: os.sched_setaffinity(0, {REST})  # noqa: E731
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=pin, timeout=5 * seconds + 20)
    except subprocess.TimeoutExpired:
        raise Failed(f"{Path(words[0]).name} did not end: a call was lost") from None
    if done.returncode:
        raise Failed(f"{Path(words[0]).name}: {done.stdout[-200:].strip()}")
    return done.stdout


def number(pattern, text, otherwise=None):
    match = re.search(pattern, text)
    if not match and otherwise is None:
        raise Failed(f"no {pattern!r} in what was said: {text[-200:]}")
    return float(match[1]) if match else otherwise


def wrk(case, port, fields, seconds, stage):
    headers = [word for name, value in fields.items() for word in ("-H", f"{name}: {value}")]
    command = ["wrk", "-t1", f"-c{case.connections}", f"-d{seconds}s", "-s", stage.directory / "wrk.lua", *headers]
    text = run([*command, f"http://127.0.0.1:{port}{case.path}"], seconds)
    made = int(number(r"(\d+) requests in", text))
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    failed = sum(map(int, errors.groups())) if errors else 0
    failed += int(number(r"Non-2xx or 3xx responses: (\d+)", text, 0))
    return {"calls": made, "failed": failed, "rate": number(r"Requests/sec:\s+([\d.]+)", text)}


def h2load(case, port, fields, seconds, stage, calls=None):
    kind, more, _ = REQUESTS[case.speaks]
    request = ["--h1"] if case.cached else ["-d", stage.directory / f"body.{case.speaks or 'grpc'}"]
    fields = fields if case.cached else {"content-type": kind, **more, **fields}
    headers = [word for name, value in fields.items() for word in ("-H", f"{name}: {value}")]
    length = ["-n", calls] if calls else ["-D", seconds]
    command = ["h2load", "-t1", f"-c{case.connections}", f"-m{case.streams}", *length, *request, *headers]
    text = run([*command, f"http://127.0.0.1:{port}{case.path}"], seconds)
    good = int(number(r"status codes: (\d+) 2xx", text))
    made = calls or int(number(r"(\d+) done", text))
    # Those that the end of the time cuts off are no failures.
    return {"calls": made, "failed": made - good if calls else 0, "rate": number(r"finished in .*?, ([\d.]+) req/s", text)}


def caller(case, port, fields, seconds, stage):
    kind, amount = ("grpc" if case.grpc else "http1", case.rate) if case.rate else ("stream", case.messages)
    words = [stage.directory / "caller.program", kind, amount, port, case.path, case.connections, seconds, case.size]
    told = json.loads(run([*words, *(f"{name}={value}" for name, value in fields.items())], seconds))
    if told["failed"]:
        raise Failed(f"{told['failed']} calls failed: {told['problem']}")
    figures = {"calls": told["good"], "failed": 0, "rate": told["good"] / told["seconds"]}
    if case.rate:
        figures |= {name: told[name] for name in ("p50", "p99", "most")}
    return figures


CLIENTS = {"wrk": wrk, "h2load": h2load, "caller": caller}


def warm_up(case, port, fields, stage):
    """Makes connections and fills caches; returns how many calls the proxy makes in a second."""
    return CLIENTS[case.client](case, port, fields, 1, stage)["rate"]


def drive(case, port, fields, seconds, stage, rate):
    """The calls that are timed; none of them may fail."""
    options = {"calls": max(2 * case.connections * case.streams, int(rate * seconds))} if case.client == "h2load" else {}
    figures = CLIENTS[case.client](case, port, fields, seconds, stage, **options)
    if not figures["calls"]:
        raise Failed("no call came to its end")
    if figures["failed"]:
        raise Failed(f"{figures['failed']} of {figures['calls']} calls failed")
    return figures
