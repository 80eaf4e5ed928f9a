"""Each block of code in the documents does what its page says: a configuration is valid, commands write what stands below."""

import pytest

from support.documents import RUN, blocks
from support.martlet import ROOT
from support.reader import Reader

CASES = [(page, block) for page in RUN for block in blocks(page)]
LANGUAGES = ["yaml", "yaml part", "sh", "text", "python", "swift", "ini", "promql", "json", "dockerfile"]


@pytest.fixture(scope="module")
def reader():
    """The reader of a page, who goes on where the test before has stopped."""
    readers = {}

    def of(page):
        if page not in readers:
            readers[page] = Reader(page)
        return readers[page]

    yield of
    for one in readers.values():
        one.stop()


@pytest.mark.parametrize("page, block", CASES, ids=[f"{page.relative_to(ROOT)}:{block.line}" for page, block in CASES])
def test_it_does_what_the_page_says(binary, reader, page, block):
    assert block.language in LANGUAGES
    if block.language == "text":
        return  # a picture
    assert block.is_run or block.comment, "say above the block why it is not run: <!-- not run: … -->"
    error = reader(page).error(block.line)
    assert error is None, f"{page.name}:{block.line}: {error}"
