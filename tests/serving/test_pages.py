"""The pages that people see: a package's text is only ever text on them, and a broken package is shown as one."""

import html
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scanbuild.package.model import Manifest
from scanbuild.publishing.snippet import SampleCall, snippet
from scanbuild.serving import open_server, prose
from scanbuild.serving.highlight import MOST_COLOURED, MOST_SHOWN, code_lines
from scanbuild.serving.pages import assets
from scanbuild.serving.server import PackageServer
from scanbuild.serving.settings import ServeSettings
from scanbuild.serving.shelf import fill_shelf
from tests.cases.packages import DOUBLE, case, manifest, sign, variant, write_package
from tests.serving.asking import FILES, ask
from tests.serving.conftest import CASES

EVIL = "</code></pre><script>taken()</script><img src=x onerror=taken()>\"'`{{ 7777 * 7777 }}\u202e"
RENDERED = "rendered/main/main.0a1b2c3d.wgsl"


def hostile() -> dict[str, Any]:
    """A manifest with hostile text wherever the loader takes any."""
    return manifest(
        variant(
            "main",
            description=EVIL,
            when=["attrs.mode != " + json.dumps(EVIL.replace('"', "").replace("`", ""))],
            demoteWhen=["attrs.mode == '<script>'"],
            requires={"features": ["shader-f16"], "limits": {"maxBufferSize": 1}},
            priority=3,
        ),
        variant("plain"),
        name=EVIL,
        description=f"{EVIL}\n\n`{EVIL}`",
        sinceVersion=EVIL,
        inputs={"x": {"dtype": "T", "description": EVIL, "onnx": EVIL, "rank": EVIL}},
        outputs={"y": {"dtype": "T", "shape": "shapes.x", "description": EVIL, "onnx": EVIL}},
        attributes={"mode": {"default": EVIL, "description": EVIL}},
        attributeConstraints={"mode": {"values": [EVIL, "b"]}},
        args={"alpha": {"kind": "string", "required": False, "description": EVIL, "oneOf": [EVIL]}},
        tunables={"width": {"default": EVIL}},
        typeConstraints={"T": ["float32"], EVIL: ["float32"]},
    )


class Elements(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def hostile_server(tmp_path: Path) -> Iterator[PackageServer]:
    folder = write_package(tmp_path, hostile(), [case(EVIL, [1], [2])], {"double.wgsl.jinja": f"// {EVIL}\n{DOUBLE}"})
    metadata = json.loads((folder / "metadata.json").read_text())
    (folder / "metadata.json").write_text(json.dumps({**metadata, "license": EVIL}))
    with open_server(fill_shelf([tmp_path]), ServeSettings(port=0)) as running:
        yield running


def page_of(server: PackageServer, path: str = "/") -> Elements:
    said = ask(server, path)
    assert (said.status, said.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    policy = said.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "Access-Control-Allow-Origin" not in said.headers
    assert said.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    return Elements(said.text)


def test_hostile_text_is_text_wherever_a_package_has_any(hostile_server: PackageServer):
    page = page_of(hostile_server)
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert scripts == [{"type": "module", "src": "/-/serve.js"}]
    assert not [tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "style", "base", "form")]
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "style"]
    text = "".join(page.texts)
    assert text.count("taken()") >= 2 * 16
    assert "{{ 7777 * 7777 }}" in text
    assert "60481729" not in text
    assert "\u202e" not in text
    assert "no repository can have this name" in text
    links = [str(attributes["href"]) for tag, attributes in page.tags if tag == "a"]
    assert all(link.startswith(("/", "#", "https://onnx.ai/")) for link in links)


def test_hostile_text_in_a_file_is_text(hostile_server: PackageServer):
    path = fill_path(hostile_server)
    for file in ("double.wgsl.jinja", "manifest.json", "metadata.json", "test.json"):
        page = page_of(hostile_server, f"/-/view/{path}/{file}")
        assert not {tag for tag, _ in page.tags} & {"script", "img", "style", "iframe", "form"}
        assert "taken()" in "".join(page.texts)


def fill_path(server: PackageServer) -> str:
    found = re.search(r'data-package="([^"]+)"', ask(server, "/").text)
    assert found is not None
    return found[1]


def test_the_card_tells_the_contract_the_variants_the_files_and_the_code(tmp_path: Path):
    variants = (
        variant("late", priority=1, when=["numel(shapes.x) < 99"], requires={"limits": {"maxBufferSize": 4096}}),
        variant("early", priority=5, requires={"features": ["shader-f16"]}),
    )
    made = manifest(
        *variants, description="Doubles `x`.", attributes={"mode": {"default": 3, "description": "A mode."}}
    )
    folder = write_package(tmp_path, made, CASES)
    (folder / RENDERED).parent.mkdir(parents=True)
    (folder / RENDERED).write_text("fn main() {}\n")
    sign(folder)
    with open_server(fill_shelf([tmp_path]), ServeSettings(port=0)) as server:
        page = page_of(server)
        text = " ".join("".join(page.texts).split())
        for words in ("Doubles x.", "mode Default", "numel(shapes.x) < 99", "maxBufferSize ≥ 4,096", "shader-f16"):
            assert words.replace(" Default", "") in text
        assert text.index("early") < text.index("late")
        assert "float32, float16, int32" in text
        assert f'await getKernel("{server.origin}/test.toys.Double", {{' in text
        assert 'expectedOpId: "test.toys.Double"' in text
        assert 'expected_op_id="test.toys.Double"' in text
        links = [str(attributes["href"]) for tag, attributes in page.tags if tag == "a"]
        for link in (f"{FILES}/{RENDERED}", f"/-/view/test.toys.Double/{RENDERED}", f"{FILES}/manifest.json"):
            assert link in links
            assert ask(server, link).status == 200


def test_headings_labels_and_ids_are_in_order(server: PackageServer):
    page = page_of(server)
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[:2] == [1, 2]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    named = [attributes["aria-labelledby"] for _, attributes in page.tags if "aria-labelledby" in attributes]
    assert set(named) <= set(ids)
    assert [attributes["lang"] for tag, attributes in page.tags if tag == "html"] == ["en"]


def test_a_package_that_breaks_is_shown_with_its_problems_and_one_that_is_mended_is_back(
    server: PackageServer, root: Path
):
    folder = root / "build" / "webgpu"
    (folder / "manifest.json").write_text(json.dumps({**manifest(), "variants": [], "evil<script>": 1}))
    page = page_of(server)
    text = "".join(page.texts)
    assert "The package cannot be loaded as it is now" in text
    assert str(folder / "manifest.json") in text
    assert "evil<script>" in text
    assert ("div", {"class": "broken", "role": "alert"}) in page.tags
    assert ask(server, f"{FILES}/manifest.json").status == 200
    (folder / "manifest.json").write_text(json.dumps(manifest(description="It is back.")))
    sign(folder)
    assert "It is back." in ask(server, "/").text


def test_cases_that_cannot_be_read_are_told_and_the_rest_is_shown(server: PackageServer, root: Path):
    folder = root / "build" / "webgpu"
    (folder / "test.json").write_text('{"cases": 3}')
    sign(folder)
    text = ask(server, "/").text
    assert "The test cases cannot be read" in text
    assert "Inputs" in text
    (folder / "test.json").unlink()
    sign(folder)
    assert "brings no test cases" in ask(server, "/").text


def test_the_address_of_a_package_leads_to_its_card(server: PackageServer):
    for path in ("/test.toys.Double", "/test.toys.Double/"):
        said = ask(server, path)
        assert (said.status, said.headers["Location"]) == (302, "/#package-test.toys.Double")
    assert 'id="package-test.toys.Double"' in ask(server, "/").text
    assert ask(server, "/other").status == 404


def test_the_parts_of_the_pages_are_served_and_load_nothing_from_elsewhere(server: PackageServer):
    for name, file in assets().items():
        said = ask(server, f"/-/{name}")
        assert (said.status, said.body, said.headers["Content-Type"]) == (200, file.content, file.media_type)
        assert not re.search("https?://(?!www.w3.org/2000/svg)", said.text)
    for name in ("index.html.jinja", "engine/", "engine/index.html", "nothing.js", "", "serve.js/"):
        assert ask(server, f"/-/{name}").status == 404
    assert ask(server, "/", "POST").status == 405


def test_where_others_reach_the_server_only_the_whole_address_lets_tests_be_run(root: Path, tmp_path: Path):
    import ssl
    from urllib.request import urlopen

    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with open_server(fill_shelf([root]), ServeSettings(host="0.0.0.0", port=0)) as server:
        assert server.url.startswith("https://")
        assert server.url.endswith(f"/open/{server.token}")
        local = f"https://127.0.0.1:{server.port}"
        plain, other, whole = (
            urlopen(f"{local}{path}", context=trusting).read().decode()
            for path in ("/", "/open/other", f"/open/{server.token}")
        )
    assert server.token not in plain + other
    assert "open the whole address that is in the terminal" in plain
    assert f'data-token="{server.token}"' in whole


def test_what_is_shown_of_a_file_is_what_is_in_it():
    for path in ("a.wgsl", "a.wgsl.jinja", "a.json", "a.txt"):
        text = '// <b>\nfn main() { let a = {{ T }}(1u) & 2; }\n\n{# c #}\t{"a": [1, "b"]}'
        lines = code_lines(path, text)
        plain = "\n".join(html.unescape(re.sub("<[^>]+>", "", str(line))) for line in lines)
        assert plain == text
    assert '<span class="keyword">fn</span>' in str(code_lines("a.wgsl", "fn main() {}")[0])
    assert '<span class="tag">{{</span>' in str(code_lines("a.wgsl.jinja", "let a = {{ b }};")[0])


def test_a_long_file_is_shown_without_colours_and_a_longer_one_cut():
    text = "fn a() {}\n" * (MOST_COLOURED // 10 + 1)
    assert "<span" not in str(code_lines("a.wgsl", text)[0])
    assert sum(map(len, code_lines("a.txt", "a" * (MOST_SHOWN + 5)))) == MOST_SHOWN


def test_text_is_bent_to_lines_and_what_nobody_would_see_is_spelled_out():
    assert str(prose.paragraphs("a <b>\n\n`c` d")) == "<p>a &lt;b&gt;</p><p><code>c</code> d</p>"
    assert str(prose.breakable("laneWalk_a/b")) == "lane<wbr>Walk_<wbr>a/<wbr>b"
    assert prose.visible("a\u202eb\x00\ud800") == "a\\u202eb\\u0000\\ud800"


def test_a_call_from_an_address_names_what_the_loader_then_wants():
    made = snippet(Manifest(name="A"), "http://a", 2, SampleCall(), trusted=False, expect_op_id=True)
    assert made.splitlines()[2:7] == [
        'const kernel = await getKernel("http://a", {',
        "  version: 2,",
        '  expectedOpId: "ai.onnx.A",',
        "  trustRemoteCode: true,",
        "});",
    ]
