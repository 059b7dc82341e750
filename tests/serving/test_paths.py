"""What an address asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scanbuild.package.load import HUB, package_url
from scanbuild.package.metadata import is_package_path
from scanbuild.serving.paths import Asset, CardPage, HubFile, IndexPage, PlainFile, TrialPath, ViewPage, wanted

ADDRESS = "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", IndexPage()),
        ("/?a=b", IndexPage()),
        ("/open/secret", IndexPage(token="secret")),
        ("/a.B", CardPage(package="a.B")),
        ("/a.B/", CardPage(package="a.B")),
        ("/a.B/build/webgpu/manifest.json", PlainFile(package="a.B", file="manifest.json")),
        ("/a.B/build/webgpu/rendered/v/p.1.wgsl?x", PlainFile(package="a.B", file="rendered/v/p.1.wgsl")),
        ("/%61.B/build/webgpu/s.wgsl", PlainFile(package="a.B", file="s.wgsl")),
        ("/-/serve.js", Asset(name="serve.js")),
        ("/-/engine/job.js", Asset(name="engine/job.js")),
        ("/-/view/a.B/rendered/s.wgsl", ViewPage(package="a.B", file="rendered/s.wgsl")),
        ("/-/tests", TrialPath()),
        ("/-/tests/secret/socket", TrialPath(trial="secret")),
    ],
)
def test_an_address_is_read(path: str, expected: object):
    assert wanted(path) == expected


@pytest.mark.parametrize(
    ("location", "revision", "expected"),
    [
        (f"{ADDRESS}/a.B", "v1", PlainFile(package="a.B", file="s.wgsl.jinja")),
        (f"{ADDRESS}/a.B/", "main", PlainFile(package="a.B", file="s.wgsl.jinja")),
        ("org/a.B", "v1", HubFile(organisation="org", name="a.B", revision="v1", file="s.wgsl.jinja")),
        ("o-r.g_/a.B", "a/b", HubFile(organisation="o-r.g_", name="a.B", revision="a/b", file="s.wgsl.jinja")),
    ],
)
def test_the_addresses_that_the_loader_makes_are_read_as_what_it_means(location: str, revision: str, expected: object):
    url = package_url(location, revision, "s.wgsl.jinja").replace(HUB, f"{ADDRESS}/")
    assert wanted(url.removeprefix(ADDRESS)) == expected


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a.B/build/webgpu/s.wgsl",
        "http://127.0.0.1/a.B/build/webgpu/s.wgsl",
        "//etc/passwd",
        "/a.B/build/webgpu/",
        "/a.B/build/webgpu/../s.wgsl",
        "/a.B/build/webgpu/%2e%2e/s.wgsl",
        "/a.B/build/webgpu/%2E./s.wgsl",
        "/a.B/build/webgpu/..%2fs.wgsl",
        "/a.B/build/webgpu/..\\s.wgsl",
        "/a.B/build/webgpu/..%5Cs.wgsl",
        "/a.B/build/webgpu/%252e%252e/s.wgsl",
        "/a.B/build/webgpu//etc/passwd",
        "/a.B/build/webgpu/%2Fetc%2Fpasswd",
        "/a.B/build/webgpu/s.wgsl%00.json",
        "/a.B/build/webgpu/s.wgsl\x00",
        "/a.B/build/webgpu/%ff",
        "/a.B/build/webgpu/%zz",
        "/a.B/build/webgpu/%",
        "/a.B/build/webgpu/a b",
        "/a.B/build/webgpu/constructor",
        "/a.B/build/web/s.wgsl",
        "/../a.B/build/webgpu/s.wgsl",
        "/kernels/org/a.B/resolve/v1/s.wgsl",
        "/kernels/org/a.B/resolve/v1/build/webgpu/../s.wgsl",
        "/kernels/o%2Frg/a.B/resolve/v1/build/webgpu/s.wgsl",
        "/kernels/org/a.B/blob/v1/build/webgpu/s.wgsl",
        "/-/../serve.js",
    ],
)
def test_what_no_file_is_called_is_nothing(path: str):
    assert wanted(path) is None


@given(st.lists(st.sampled_from(["a.B", "build", "webgpu", "..", ".", "%2e", "%2f", "%00", "kernels", "\\", "", "s"])))
def test_no_address_names_a_file_outside_a_package(parts: list[str]):
    found = wanted("/" + "/".join(parts))
    if isinstance(found, PlainFile | HubFile | ViewPage):
        assert is_package_path(found.file)
