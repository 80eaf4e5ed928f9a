"""The stages of the Dockerfile that make the image, instruction by instruction."""

import json
import re
import shlex

from support.martlet import ROOT

KNOWN = {"FROM", "WORKDIR", "LABEL", "RUN", "COPY", "ENV", "VOLUME", "USER", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"}


def stages():
    """The instructions of each stage, (word, argument) with continued lines joined, by its name; the last one's is `image`."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    found = {}
    for line in filter(None, map(str.strip, lines)):
        word, argument = line.split(None, 1)
        if word == "FROM":
            name = argument.partition(" AS ")[2] or "image"
            found[name] = []
        found[name].append((word, argument))
    unknown = {word for name in ("root", "image") for word, _ in found[name]} - KNOWN
    assert not unknown, f"Tests/Container does not know what {unknown} do to the image"
    return found


STAGES = stages()


def instructions(word, stage="image"):
    return [argument for name, argument in STAGES[stage] if name == word]


def pairs(word):
    """The NAME=VALUE words of an instruction."""
    return dict(pair.split("=", 1) for argument in instructions(word) for pair in shlex.split(argument))


SUITE = re.match(r"debian:([a-z]+)-slim ", instructions("FROM", "root")[0])[1]
(DIRECTORY,) = instructions("WORKDIR", "root")
INSTALL, *COMMANDS = instructions("RUN", "root")
PACKAGES = (ROOT / re.search(r"--arg-file=(\S+) apt-get install", INSTALL)[1]).read_text().split()
COPIES = [shlex.split(argument) for argument in instructions("COPY", "root")]
assert STAGES["image"][0] == ("FROM", "scratch") and not instructions("RUN")
((_, PLACE, _),) = [shlex.split(argument) for argument in instructions("COPY")]
ENVIRONMENT = pairs("ENV")
LABELS = pairs("LABEL")
VOLUMES = instructions("VOLUME")
USER = tuple(map(int, instructions("USER")[0].split(":")))
ENTRYPOINT = json.loads(instructions("ENTRYPOINT")[0])
HEALTHCHECK = json.loads(re.search(r"CMD (\[.*\])", instructions("HEALTHCHECK")[0])[1])
