"""Each link in the documents to a file of the repository, or to a heading, has a target."""

import subprocess

from support.documents import broken, links
from support.martlet import ROOT


def test_they_do():
    names = subprocess.check_output(["git", "ls-files", "-z", "*.md"], cwd=ROOT, text=True).split("\0")[:-1]
    pages = [ROOT / name for name in names if (ROOT / name).exists()]
    assert len(pages) > 10
    found = [(page, number, target, broken(page, target)) for page in pages for number, target in links(page)]
    assert [f"{page.relative_to(ROOT)}:{number}: {target}: {why}" for page, number, target, why in found if why] == []
