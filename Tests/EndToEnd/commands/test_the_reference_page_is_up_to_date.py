"""docs/reference.md is what the binary prints; `make reference` writes it again."""

from support.martlet import ROOT


def test_page(command):
    result = command("reference")
    assert result.code == 0
    assert result.stdout.text + "\n" == (ROOT / "docs/reference.md").read_text()
