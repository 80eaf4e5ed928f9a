#!/usr/bin/env python3
"""Martlet beside the proxies that do the same job: processor time of a call, latency, memory.

    make bench                                                                everything, half an hour or so
    make bench ARGS='--cases http1-small --peers nginx --seconds 1'           a part; only printed

A whole run writes Benchmarks/RESULTS.md, results.svg and growth.svg. See README.md.
"""

import argparse
import json
import signal
import sys
import tempfile
import time

import alone
import floor
import growth
import plot
import report
from budget import judge_all
from caches import CACHES
from cases import CACHED, IDLE, LOAD, TRANSLATED, UNTRANSLATED
from check import check_backend
from idle import measure_idle
from machine import describe
from measure import in_turn
from peers import MARTLET, PEERS, ROOT
from process import Failed
from stage import Stage

KNOWN = PEERS | CACHES
KEPT = ROOT / ".build/bench/results.json"
FOLDER = ROOT / "Benchmarks"


def tell(text):
    print(text, file=sys.stderr, flush=True)


def load_cases(arguments, stage, names, wanted):
    for case in LOAD:
        if wanted(case.name):
            stage.quiet.renew()
            if not case.tls:
                check_backend(case, stage.port(case))
            turn = names + [floor.NAME] * (not case.tls) + ["direct"] * bool(case.rate)
            found = in_turn(case, turn, stage, arguments.seconds, arguments.rounds, tell)
            direct = found.pop("direct", {})
            for figures in found.values():
                for key in ("p50", "p99"):
                    if key in figures and key in direct:
                        figures[f"added {key}"] = figures[key] - direct[key]
            yield case.name, found | ({"direct": direct} if direct else {})


def translated_cases(arguments, stage, names, wanted):
    """Beside the same calls untranslated, in the same turns."""
    able = [name for name in names if name in ("martlet", "envoy")]
    for case in TRANSLATED:
        if wanted(case.name):
            stage.quiet.renew()
            yield case.name, in_turn(case, [*able, UNTRANSLATED], stage, arguments.seconds, arguments.rounds, tell)


def cached_cases(arguments, stage, names, wanted):
    """Those that have a cache, with a file of their own for it."""
    able = [name for name in CACHES if name in names]
    for case in CACHED:
        if wanted(case.name):
            stage.quiet.renew()
            check_backend(case, stage.port(case))
            yield case.name, in_turn(case, able, stage, arguments.seconds, arguments.rounds, tell, CACHES)


def idle_cases(stage, names, wanted):
    for name, case in IDLE.items():
        if not wanted(name):
            continue
        found = {}
        for each in names:
            try:
                found[each] = measure_idle(case, PEERS[each], stage)
                tell(f"{name} {each}: {found[each]['kib']:.2f} KiB")
            except Failed as failure:
                found[each] = {"problem": str(failure)}
                tell(f"{name} {each}: {failure}")
        yield name, found


def single_cases(arguments, stage, names, wanted):
    parts = list(alone.everything(stage, arguments.seconds, arguments.rounds, wanted)) if "martlet" in names else []
    parts += growth.everything(stage, 1, arguments.rounds, wanted, names)
    for name, part in parts:
        stage.quiet.renew()
        try:
            found = part()
        except Failed as failure:
            found = {"martlet": {"problem": str(failure)}}
        tell(f"{name}: {found}")
        yield name, found


def measure_all(arguments, names, results, keep):
    """Fills `results`, and has them kept after each case."""

    def wanted(case):
        return not arguments.cases or case in arguments.cases

    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        stage = Stage(directory, arguments.patience)
        proxies = [name for name in names if name in PEERS]
        parts = [(part, proxies) for part in (load_cases, translated_cases, lambda *_: idle_cases(stage, proxies, wanted), single_cases)]
        try:
            for part, able in [*parts, (cached_cases, names)]:
                for name, found in part(arguments, stage, able, wanted):
                    results[name] = found
                    keep()
        finally:
            stage.close()


def failures(results):
    """Calls that failed end a run with an error, whatever else was found."""
    return [f"{case} {who}: {found['problem']}" for case, all in results.items() for who, found in all.items() if "problem" in found]


def arguments_of(words):
    def listed(text):
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=listed, help="of those in the tables, by commas")
    parser.add_argument("--peers", type=listed, help=f"beside Martlet, of {', '.join(list(KNOWN)[1:])}")
    parser.add_argument("--seconds", type=int, default=1, help="of one timed round (default 1)")
    parser.add_argument("--rounds", type=int, default=4, help="(default 4)")
    parser.add_argument("--patience", type=int, default=40, help="seconds of a case for rounds made again since the host disturbed them (default 40)")
    parser.add_argument("--strict", action="store_true", help="end with 1 if a budget is missed")
    parser.add_argument("--note", default="", help="a sentence about the machine for RESULTS.md")
    parser.add_argument("--again", action="store_true", help="write the tables of the last whole run anew")
    return parser.parse_args(words)


def write(kept):
    (FOLDER / "RESULTS.md").write_text(report.document(kept))
    (FOLDER / "results.svg").write_text(plot.bars(kept["results"]))
    (FOLDER / "growth.svg").write_text(plot.growth(kept["results"]))


def known_cases():
    """The names of all that can be measured."""
    own = alone.everything(None, 1, 1, lambda name: True)
    grown = growth.everything(None, 1, 1, lambda name: True, [])
    return [*(case.name for case in LOAD + TRANSLATED + CACHED), *IDLE, *(name for name, _ in own), *(name for name, _ in grown)]


def chosen(arguments):
    """The proxies to measure: Martlet, and those of the others that are wanted and there."""
    if not MARTLET.exists():
        sys.exit(f"{MARTLET} is not there: make build")
    for name in arguments.peers or []:
        if name not in KNOWN:
            sys.exit(f"no peer {name}: {', '.join(KNOWN)}")
    for name in arguments.cases or []:
        if name not in known_cases():
            sys.exit(f"no case {name}: {', '.join(known_cases())}")
    wanted = [name for name in KNOWN if name == "martlet" or not arguments.peers or name in arguments.peers]
    for name in wanted:
        if not KNOWN[name].program:
            tell(f"{name} is not installed")
    return [name for name in wanted if KNOWN[name].program]


def verdict(results, strict):
    """Tells what is missed and what has failed, and returns the exit code."""
    missed = [what for what, _, _, is_kept in judge_all(results) if not is_kept]
    for what in missed:
        tell(f"beyond the budget: {what}")
    failed = failures(results)
    for what in failed:
        tell(f"failed: {what}")
    return 1 if failed or (strict and missed) else 0


def main():
    # Whoever is told to end still stops what was started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    arguments = arguments_of(sys.argv[1:])
    if arguments.again:
        return write(json.loads(KEPT.read_text()))
    names, began = chosen(arguments), time.monotonic()
    machine = describe(names) | {"note": arguments.note, "seconds": arguments.seconds, "rounds": arguments.rounds}
    kept = {"machine": machine, "results": {}}
    is_whole = not arguments.cases and not arguments.peers
    KEPT.parent.mkdir(parents=True, exist_ok=True)

    def keep():
        machine["minutes"] = round((time.monotonic() - began) / 60, 1)
        if is_whole:
            KEPT.write_text(json.dumps(kept, indent=1))

    measure_all(arguments, names, kept["results"], keep)
    print(report.document(kept))
    if is_whole:
        write(kept)
    return verdict(kept["results"], arguments.strict)


if __name__ == "__main__":
    sys.exit(main())
