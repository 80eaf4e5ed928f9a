"""The metrics page, parsed."""

import re

SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """Samples of one scrape; a page with a line that is neither comment nor sample fails to parse."""

    def __init__(self, text):
        self.samples = []
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            match = SAMPLE.match(line)
            assert match, f"not a sample: {line!r}"
            name, labels, value = match.groups()
            self.samples.append((name, dict(LABEL.findall(labels or "")), float(value)))

    def select(self, name, **labels):
        """The (labels, value) pairs of a metric whose labels include the given ones."""
        return [(own, value) for sample, own, value in self.samples if sample == name and labels.items() <= own.items()]

    def counted(self, name, label):
        """The values of a label under which the metric is not zero."""
        return {labels[label] for labels, value in self.select(name) if value}

    def total(self, name, **labels):
        return sum(value for _, value in self.select(name, **labels))
