"""scripts/sbom names everything inside the program and everything that it links, by the rules of SPDX 2.3."""

import hashlib
import json
import re
import subprocess

import pytest
from spdx_tools.spdx.model import RelationshipType
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
from support.martlet import BINARY, ROOT


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("sbom") / "martlet.spdx.json"
    file.write_bytes(subprocess.check_output([ROOT / "scripts/sbom", BINARY]))
    return file


@pytest.fixture(scope="module")
def document(file):
    return parse_file(str(file))


def test_it_obeys_the_rules(document):
    assert validate_full_spdx_document(document, "SPDX-2.3") == []


def test_it_names_every_library(document):
    kinds = {one.related_spdx_element_id: one.relationship_type for one in document.relationships}
    names = {package.name: kinds[package.spdx_id] for package in document.packages}
    versions = dict(line.split(" ", 1) for line in subprocess.check_output([BINARY, "version", "--libraries"], text=True).splitlines())
    for library in set(versions) - {"martlet", "build", "upb", "nghttp2"}:
        found = [name for name in names if re.sub(r"^lib", "", library) in name or (library, name) == ("openssl", "libssl3")]
        assert [names[name] for name in found] == [RelationshipType.DYNAMIC_LINK], library
    static = {name for name, kind in names.items() if kind == RelationshipType.STATIC_LINK}
    assert {"upb", "swift"} <= static and any(name.startswith("libstdc++") for name in static)
    is_linked = b"libnghttp2.so" in subprocess.check_output(["readelf", "--dynamic", BINARY])
    assert [name for name in names if "nghttp2" in name] == ["libnghttp2-14" if is_linked else "nghttp2"]
    assert ("nghttp2" in static) != is_linked


def test_each_library_has_a_version_a_licence_and_a_locator(file):
    for package in json.loads(file.read_text())["packages"]:
        assert package["versionInfo"] != "NOASSERTION" and package["licenseConcluded"] != "NOASSERTION", package
        assert package["externalRefs"][0]["referenceLocator"].startswith("pkg:"), package


def test_the_checksum_is_that_of_the_program(file):
    martlet = json.loads(file.read_text())["packages"][0]
    assert martlet["name"] == "martlet"
    assert martlet["checksums"][0]["checksumValue"] == hashlib.sha256(BINARY.read_bytes()).hexdigest()
