"""Each block of code in the documents does what the page says: a configuration is valid, a command writes what stands below it."""

import pytest

from support.documents import RUN, Reader, blocks
from support.martlet import ROOT

CASES = [(page, block) for page in RUN for block in blocks(page)]
KNOWN = ["yaml", "yaml part", "sh", "text", "python", "swift", "ini", "promql", "json"]


@pytest.fixture(scope="module")
def readers():
    """The reader of each page, who goes on where the test before has stopped."""
    started = {}
    yield lambda page: started.setdefault(page, None) or started.update({page: Reader(page)}) or started[page]
    for reader in started.values():
        reader.stop()


def name(value):
    page, block = value
    return f"{page.relative_to(ROOT)}:{block.line}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_it_is_as_good_as_it_looks(binary, readers, case):
    page, block = case
    assert block.language in KNOWN, f"```{block.language}"
    if block.language in ("text",):
        return
    if not block.is_run:
        assert block.comment, "say above the block why it is not run: <!-- not run: … -->"
        return
    error = readers(page).outcome(block.line)
    assert error is None, error
