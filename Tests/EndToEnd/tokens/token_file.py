"""The ways in which a token file comes to have another value."""

import os


class TokenFile:
    """Starts with `first`; `change` writes another value the way its kind does."""

    def __init__(self, directory, first):
        directory.mkdir()
        self.directory = directory
        self.path = directory / "token"
        self.begin(first)

    def begin(self, value):
        self.path.write_text(value)


class Rewritten(TokenFile):
    """Written in place, as `echo new > token` does."""

    def change(self, value):
        self.path.write_text(value)


class Renamed(TokenFile):
    """A new file replaces the old one by a rename, as careful writers do."""

    def change(self, value):
        new = self.directory / "token.new"
        new.write_text(value)
        new.rename(self.path)


class Swapped(TokenFile):
    """A Kubernetes volume: token → ..data/token, ..data → a directory that is replaced."""

    def begin(self, value):
        self.count = 0
        self.change(value)
        self.path.symlink_to("..data/token")

    def change(self, value):
        self.count += 1
        version = self.directory / f"..version{self.count}"
        version.mkdir()
        (version / "token").write_text(value)
        link = self.directory / "..data_tmp"
        link.symlink_to(version.name)
        os.replace(link, self.directory / "..data")


class Late(TokenFile):
    """Is not there at the start."""

    def begin(self, value):
        pass

    def change(self, value):
        self.path.write_text(value)
