"""A directory for spools that is missing, or that Martlet may not write, is an error with its place in the file."""

import tempfile
from pathlib import Path

import pytest

from support.users import NOBODY, need_root

CONFIGURATION = """\
listen: 127.0.0.1:0
upstreams:
  default:
    url: http://127.0.0.1:9
    limits: {{ spool: {{ to: {} }} }}
"""


@pytest.fixture
def places(tmp_path):
    file = tmp_path / "file"
    file.touch()
    return {"No such file or directory": tmp_path / "missing", "Not a directory": file}


@pytest.mark.parametrize("error", ["No such file or directory", "Not a directory"])
def test_at_the_start(martlet, command, places, error):
    proxy = martlet(CONFIGURATION.format(places[error]), wait=False)
    line = rf"martlet.yaml:5:28: cannot make files in {places[error]}: {error}; write a directory that Martlet may write"
    proxy.stderr.wait(line)
    assert proxy.exit_code() != 0
    # The file may be for another machine.
    result = command("check", "-c", proxy.file)
    assert result.code == 0 and f"cannot make files in {places[error]}: {error}" in result.stderr.text


def test_on_a_reload(martlet, tmp_path):
    good = tmp_path / "good"
    good.mkdir()
    proxy = martlet(CONFIGURATION.format(good))
    proxy.reload(CONFIGURATION.format(tmp_path / "missing"), outcome="rejected|cannot make files")
    assert proxy.admin("/status").status_code == 200


def test_another_users_directory(martlet, tmp_path):
    need_root()
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        place.chmod(0o755)
        directory = place / "private"
        directory.mkdir(mode=0o700)
        proxy = martlet(CONFIGURATION.format(directory), wait=False, admin=False, directory=place, through=NOBODY)
        proxy.stderr.wait(f"cannot make files in {directory}: Permission denied")
        assert proxy.exit_code() != 0


def test_a_max_beyond_the_total(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION.format(f"{tmp_path}, max: 2GiB, total: 1GiB"))
    result = command("check", "-c", file)
    assert result.code == 78
    assert '"max" is larger than "total" (1GiB); write a smaller "max", or a larger "total"' in result.stderr.text
