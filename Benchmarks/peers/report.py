"""RESULTS.md: the tables of a run."""

import alone
import floor
import growth
from budget import judge_all
from caches import CACHES
from cases import CACHED, IDLE, LOAD, TRANSLATED, UNTRANSLATED
from peers import PEERS


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def shown(value, digits=1):
    return "–" if value is None else f"{value:.{digits}f}"


def cell(found, key, digits=1):
    """A figure, or that there is none, or that calls failed."""
    return "failed" if "problem" in found else shown(found.get(key), digits)


def columns(results, cases):
    """The proxies of which there is anything, and what none can cost less than."""
    return [name for name in [*PEERS, floor.NAME] if any(name in results.get(case, {}) for case in cases)]


def grid(results, cases, key, titles, digits=1):
    names = columns(results, cases)
    rows = [[titles[case], *(cell(results[case].get(name, {}), key, digits) for name in names)] for case in cases if case in results]
    return table(["", *names], rows)


def ratios(results, cases):
    """Martlet's processor time by that of each peer."""
    names = [name for name in columns(results, cases) if name != "martlet"]
    rows = []
    for case in cases:
        own = results.get(case, {}).get("martlet", {}).get("cpu")
        if own:
            cpu = {name: results[case].get(name, {}).get("cpu") for name in names}
            rows.append([f"`{case}`", *(shown(own / cpu[name] if cpu[name] else None, 2) for name in names)])
    return table(["martlet /", *names], rows)


def judged(results):
    rows = []
    for what, measured, bound, is_kept in judge_all(results):
        rows.append([what, shown(measured, 2), f"{bound:g}", "not measured" if measured is None else "kept" if is_kept else "**missed**"])
    return table(["budget", "measured", "at most", ""], rows)


def all_found(results):
    """Whatever was found, of all cases and proxies."""
    return [each for all in results.values() for each in all.values()]


def machine(kept):
    facts = kept["machine"]
    text = f"{facts['date']}, {facts['processor']}, {facts['cores']} cores, {facts['memory']} GiB, {facts['system']}, "
    text += f"Linux {facts['kernel']}; {facts['rounds']} rounds of {facts['seconds']} s, {facts['minutes']:.0f} minutes in all."
    for key, words in (("others", "Others used"), ("stolen", "Its host took")):
        if values := sorted(value for each in all_found(kept["results"]) for value in each.get(key, [])):
            text += f" {words} {values[len(values) // 2]:.0f} % of a core during the middle round, {values[-1]:.0f} % during the worst."
    if facts["note"]:
        text += f" {facts['note']}"
    return text + "\n\n" + table(["program", "version"], [[name, version] for name, version in facts["versions"].items()])


def idle(results):
    cases = [name for name in IDLE if name in results]
    titles = {name: f"`{name}`" for name in cases}
    names, rows = columns(results, cases), []
    for case in cases:
        found = [results[case].get(name, {}) for name in names]
        rows.append([titles[case], *(f"{cell(each, 'before')} → {cell(each, 'after')}" for each in found)])
    text = "MiB of the process, or of all of them, before and after:"
    return f"{grid(results, cases, 'kib', titles)}\n\n{text}\n\n{table(['', *names], rows)}"


def by_itself(results):
    """One table each of what only Martlet is measured for."""
    cost = {"cpu": "CPU µs per call", "rate": "calls/s"}
    rest = {"median ms": "ms", "least ms": "least", "MiB": "MiB at rest"}
    parts = {
        "chain-http1": ("Interceptors in the chain, HTTP/1.1", cost),
        "chain-grpc": ("Interceptors in the chain, gRPC", cost),
        "routes-grpc": ("Routes by service, of which the last is taken, gRPC", cost),
        "routes-http1": ("Routes by path or by prefix, of which the last is taken, HTTP/1.1", cost),
        "workers": ("Workers; the second shares its processor with load and backend", cost),
        "start": (f"From the start of the program to the end of its first call, {alone.STARTS} times", rest),
        "reload": (f"From SIGHUP to `reloaded`, by routes, {alone.RELOADS} times", {"median ms": "ms", "most ms": "most"}),
        "stall": ("The longest of 1000 calls a second, with SIGHUP five times a second", {"most ms": "ms"}),
    }
    for name, (title, keys) in parts.items():
        if name in results:
            rows = [[who, *(cell(found, key) for key in keys)] for who, found in results[name].items()]
            yield f"{title}:\n\n{table([f'`{name}`', *keys.values()], rows)}"


def translation(results):
    """What translation costs: beside the same call untranslated, and beside Envoy's filter for it."""
    names, rows = ["martlet", UNTRANSLATED, "envoy"], []
    for case in TRANSLATED:
        if case.name in results:
            found = results[case.name]
            cpu = [found.get(name, {}).get("cpu") for name in names]
            by = [shown(cpu[0] / other if cpu[0] and other else None, 2) for other in cpu[1:]]
            rows.append([f"`{case.name}`: {case.title}", *(cell(found.get(name, {}), "cpu") for name in names), *by])
    return table(["", *names, f"martlet / {UNTRANSLATED}", "martlet / envoy"], rows)


def cached(results):
    """What a hit costs, one row for each cache."""
    for case in CACHED:
        if case.name in results:
            found = {name: results[case.name][name] for name in CACHES if name in results[case.name]}
            own = found.get("martlet", {}).get("cpu")
            by = {name: shown(own / each["cpu"] if own and each.get("cpu") else None, 2) for name, each in found.items()}
            rows = [[name, cell(each, "cpu"), cell(each, "rate", 0), by[name]] for name, each in found.items()]
            yield table([f"`{case.name}`: {case.title}", "CPU µs per hit", "hits/s", "martlet / it"], rows)


def growing(results):
    for name in growth.SERIES:
        found = results.get(f"growth-{name}")
        if found and "problem" not in found.get("martlet", {}):
            values = list(next(iter(found.values())))
            yield table([name, *values], [[who, *(shown(points.get(value)) for value in values)] for who, points in found.items()])


def document(kept):
    results = kept["results"]
    load = [case.name for case in LOAD if case.name in results]
    paced = [case.name for case in LOAD if case.rate and case.name in results]
    full = [case for case in load if case not in paced]
    titles = {case.name: f"`{case.name}`: {case.title}" for case in LOAD}
    short = {case: f"`{case}`" for case in load}
    origin = "Written by `make bench`; what it measures, and how, is in [peers](peers/README.md)."
    parts = ["# Martlet and others", origin, machine(kept)]
    if load:
        parts += ["## Processor time", "µs of the process and its children for each call, kernel included."]
        parts += [grid(results, load, "cpu", titles)]
        parts += ["![Processor time of a call](results.svg)", ratios(results, load)]
    if full:
        parts += ["Calls per second, as far as load and backend on the other core let them:"]
        parts += [grid(results, full, "rate", short, 0)]
    if paced:
        parts += ["## Latency", "µs that the proxy adds to a call at a fixed rate, in the middle (p50):"]
        parts += [grid(results, paced, "added p50", short, 0)]
        parts += ["And at the 99th percentile:", grid(results, paced, "added p99", short, 0)]
        rows = [[short[case], *(cell(results[case].get("direct", {}), key, 0) for key in ("p50", "p99"))] for case in paced]
        parts += ["Without a proxy a call takes:", table(["", "p50", "p99"], rows)]
    if any(case.name in results for case in TRANSLATED):
        text = "CPU µs per call for a backend that speaks gRPC with Protobuf, 40 bytes each way, 8 connections of 32 streams:"
        parts += ["## Translation", text, translation(results)]
    if caches := list(cached(results)):
        parts += ["## Cache", *caches]
    if any(name in results for name in IDLE):
        parts += ["## Idle connections", "KiB of resident memory for each, after one call:", idle(results)]
    if own := list(by_itself(results)):
        parts += ["## Martlet by itself", *own]
    if growths := list(growing(results)):
        parts += ["## Growth", "CPU µs per call:", *growths, "![Growth](growth.svg)"]
    parts += ["## Budgets", "From [budgets.json](peers/budgets.json); ratios are to the cheapest that is named there.", judged(results)]
    every = [(case, who, found) for case, all in results.items() for who, found in all.items()]
    failed = [f"* `{case}` {who}: {found['problem']}" for case, who, found in every if "problem" in found]
    if failed:
        parts += ["## What failed", "\n".join(failed)]
    return "\n\n".join(parts) + "\n"
