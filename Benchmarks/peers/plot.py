"""Plots as plain SVG, readable on light and dark pages."""

import math
from html import escape

import floor
import growth as growing
from cases import LOAD
from peers import PEERS

SHOWN = [*PEERS, floor.NAME]
COLOURS = dict(zip(SHOWN, ("#e4572e", "#4c9f70", "#4a7fb5", "#a06cb8", "#999999", "#d4b483")))
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12">
<style>
text {{ fill: #24292f }} line, polyline {{ stroke: #8b949e }} .value {{ font-size: 10px }} .title {{ font-size: 14px; font-weight: 600 }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} }}
</style>
"""
ROW, GAP, LEFT, RIGHT = 14, 16, 130, 60
PANEL = (230, 150)


def text(x, y, words, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(words)}</text>'


def legend(names, y):
    parts = []
    for place, name in enumerate(names):
        x = LEFT + 95 * place
        parts += [f'<rect x="{x}" y="{y - 10}" width="10" height="10" fill="{COLOURS[name]}"/>', text(x + 15, y, name)]
    return parts


def bars(results, width=760):
    """CPU µs per call by case and proxy. Each case has a scale of its own, since they differ by a factor of fifty."""
    names = [name for name in SHOWN if any(name in results.get(case.name, {}) for case in LOAD)]
    title = "CPU µs per call, proxy only; shorter is better, each case has its own scale"
    parts, y = [text(16, 24, title, kind="title"), *legend(names, 46)], 64
    for case in LOAD:
        cpu = {name: found["cpu"] for name in names if "cpu" in (found := results.get(case.name, {}).get(name, {}))}
        if not cpu:
            continue
        parts.append(text(LEFT - 10, y + ROW * len(cpu) / 2 + 4, case.name, "end"))
        for name, value in cpu.items():
            length = (width - LEFT - RIGHT) * value / max(cpu.values())
            bar = f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{ROW - 2}" fill="{COLOURS[name]}">'
            parts.append(f"{bar}<title>{name}: {value:.1f} µs</title></rect>")
            parts.append(text(LEFT + length + 5, y + ROW - 4, f"{value:.1f}", kind="value"))
            y += ROW
        y += GAP
    return HEAD.format(width=width, height=y) + "\n".join(parts) + "\n</svg>\n"


def label(value):
    """1024 as 1Ki, 10000 as 10k."""
    for unit, size in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if value >= size and value % size == 0:
            return f"{value // size}{unit}"
    return f"{value // 1000}k" if value >= 1000 else str(value)


def panel(x, y, name, found):
    """One line for each proxy; the horizontal scale is logarithmic unless it starts at 0."""
    wide, high = PANEL
    values = [int(value) for value in next(iter(found.values()))]
    scale = float if values[0] == 0 else math.log10
    first, last = scale(values[0]), scale(values[-1])
    most = 1.1 * max(point for points in found.values() for point in points.values())
    across = lambda value: x + wide * (scale(value) - first) / (last - first)  # noqa: E731
    up = lambda cost: y + high * (1 - cost / most)  # noqa: E731
    parts = [text(x, y - 10, name, kind="title"), f'<line x1="{x}" y1="{y + high}" x2="{x + wide}" y2="{y + high}"/>']
    parts.append(f'<line x1="{x}" y1="{y}" x2="{x}" y2="{y + high}"/>')
    for cost in (most / 2, most):
        parts.append(text(x - 5, up(cost) + 4, f"{cost:.0f}", "end", "value"))
    parts += [text(across(value), y + high + 14, label(value), "middle", "value") for value in values]
    for who, points in found.items():
        places = " ".join(f"{across(int(value)):.1f},{up(cost):.1f}" for value, cost in points.items())
        parts.append(f'<polyline points="{places}" fill="none" stroke-width="2" style="stroke: {COLOURS[who]}"/>')
    return parts


def growth(results):
    """CPU µs per call over what there is more of."""
    series = {name: found for name in growing.SERIES if (found := results.get(f"growth-{name}")) and "problem" not in found["martlet"]}
    names = [name for name in PEERS if any(name in found for found in series.values())]
    parts = [text(16, 24, "CPU µs per call, proxy only", kind="title"), *legend(names, 46)]
    for place, (name, found) in enumerate(series.items()):
        parts += panel(50 + 300 * (place % 3), 95 + 220 * (place // 3), name, found)
    height = 95 + 220 * math.ceil(len(series) / 3)
    return HEAD.format(width=920, height=height) + "\n".join(parts) + "\n</svg>\n"
