"""The agreed bounds, and whether what was measured keeps them."""

import json
from pathlib import Path

from peers import PEERS

BUDGETS = json.loads((Path(__file__).parent / "budgets.json").read_text())


def figure(results, case, who, key):
    return results.get(case, {}).get(who, {}).get(key)


def judge(results, budget):
    """(what, measured, bound, kept) of one budget; measured is None where something was not measured."""
    case, key = budget["case"], budget.get("figure", "cpu")
    own = figure(results, case, budget.get("of", "martlet"), key)
    others = budget.get("against")
    bound = budget["at most"]
    if others == "all":
        others = [name for name in PEERS if name != "martlet"]
    if others is None:
        return f"{case}: {budget['what']}", own, bound, own is None or own <= bound
    found = {who: value for who in others if (value := figure(results, case, who, key) or 0) > 0}
    what = f"{case}: {budget.get('what', key)}"
    if own is None or not found:
        return f"{what} / {' or '.join(others)}", None, bound, True
    cheapest = min(found, key=found.get)
    return f"{what} / {cheapest}", own / found[cheapest], bound, own / found[cheapest] <= bound


def judge_all(results):
    return [judge(results, budget) for budget in BUDGETS]
