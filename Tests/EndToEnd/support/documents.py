"""The documents as they are written: their blocks of code and their links."""

import itertools
import re
from dataclasses import dataclass

from support.martlet import ROOT

# The pages whose examples are run. The reference is generated; the others have pictures and commands for maintainers.
RUN = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [page for page in RUN if page.name != "reference.md"]

NOT_RUN = re.compile(r"<!-- not run: .+ -->")
LINK = re.compile(r"\]\(([^()\s]+)\)")


@dataclass
class Block:
    """One block of code: its line on the page, the words behind the fence, its text and the comment above it."""

    line: int
    language: str
    text: str
    comment: str
    expected: str | None = None

    @property
    def is_run(self):
        return not NOT_RUN.search(self.comment) and self.language in ("yaml", "yaml part", "sh", "python")


def blocks(page):
    """The blocks of a page in their order. A text block behind another one is what that one is to write."""
    found, between = [], []
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if not line.startswith("```"):
            between.append(line)
            continue
        code = itertools.takewhile(lambda numbered: numbered[1] != "```", lines)
        text = "".join(f"{line}\n" for _, line in code)
        prose = [line for line in between if line.strip()]
        comment = next((line for line in reversed(between[-1:]) if line.startswith("<!--")), "")
        language = line.removeprefix("```").strip()
        if language == "text" and found and found[-1].expected is None and len(prose) <= 1:
            found[-1].expected = text
        else:
            found.append(Block(number, language, text, comment))
        between = []
    return found


def links(page):
    """(line, target) of each link of a page to a file of this repository or to a heading."""
    is_code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        if not is_code:
            for match in LINK.finditer(re.sub(r"`[^`]*`", "`code`", line)):
                if not re.match(r"\w+:", match[1]):
                    yield number, match[1]


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found, is_code = [], False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            is_code = not is_code
        if not is_code and (match := re.match(r"#+ (.*)", line)):
            heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1])
            found.append(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    counts = [(anchor, found[:index].count(anchor)) for index, anchor in enumerate(found)]
    return {f"{anchor}-{count}" if count else anchor for anchor, count in counts}


def broken(page, target):
    """Why a link leads nowhere, or None."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return f"{path} is missing"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"{file.name} has no heading #{anchor}"
    return None
