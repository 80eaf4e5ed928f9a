"""The last stage of the Dockerfile, instruction by instruction."""

import json
import re
import shlex

from support.martlet import ROOT

KNOWN = {"FROM", "LABEL", "RUN", "COPY", "ENV", "VOLUME", "USER", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"}


def last_stage():
    """(word, argument) of each instruction, with continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    stage = []
    for line in filter(None, map(str.strip, lines)):
        word, argument = line.split(None, 1)
        stage = [] if word == "FROM" else stage
        stage.append((word, argument))
    unknown = {word for word, _ in stage} - KNOWN
    assert not unknown, f"Tests/Container does not know what {unknown} do to the image"
    return stage


STAGE = last_stage()


def instructions(word):
    return [argument for name, argument in STAGE if name == word]


def pairs(word):
    """The NAME=VALUE words of an instruction."""
    return dict(pair.split("=", 1) for argument in instructions(word) for pair in shlex.split(argument))


SUITE = re.fullmatch(r"debian:([a-z]+)-slim", instructions("FROM")[0])[1]
INSTALL, *COMMANDS = instructions("RUN")
PACKAGES = re.search(r"--no-install-recommends\s+([^&]*?)\s*&&", INSTALL)[1].split()
COPIES = [shlex.split(argument) for argument in instructions("COPY")]
ENVIRONMENT = pairs("ENV")
LABELS = pairs("LABEL")
VOLUMES = instructions("VOLUME")
USER = tuple(map(int, instructions("USER")[0].split(":")))
ENTRYPOINT = json.loads(instructions("ENTRYPOINT")[0])
HEALTHCHECK = json.loads(re.search(r"CMD (\[.*\])", instructions("HEALTHCHECK")[0])[1])
