"""The page of packages in a headless browser: what it shows, how it looks, and tests that run in it."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scanbuild.gpu.browser.launch import Browser
from scanbuild.serving import open_server
from scanbuild.serving.server import PackageServer
from scanbuild.serving.settings import ServeSettings
from scanbuild.serving.shelf import fill_shelf
from tests.browser.test_page import LEGIBLE
from tests.cases.packages import DOUBLE, case, manifest, sign, variant, write_package
from tests.serving.conftest import CASES
from tests.serving.test_pages import EVIL, RENDERED, hostile

ENDED = '.status[data-mood="good"], .status[data-mood="bad"], .status[data-mood="odd"]'

# As the loader fetches a package: metadata, then the manifest, whose digest it computes (1.4, 1.5).
LOAD = """async (base) => {
  const text = async (file) => {
    const answer = await fetch(`${base}/build/webgpu/${file}`);
    if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
    return answer.text();
  };
  const metadata = JSON.parse(await text("metadata.json"));
  const manifest = await text("manifest.json");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(manifest));
  const encoded = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return [metadata.name, JSON.parse(manifest).name, encoded === metadata.digest.files["manifest.json"]];
}"""

OPEN_ALL = """async () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  const files = [...document.querySelectorAll("details.file")];
  while (!files.every((one) => one.querySelector("pre"))) await new Promise((done) => setTimeout(done, 20));
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """A page of another origin."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<!doctype html><link rel=icon href=data:,><title>elsewhere</title>")
    handler = lambda *given: Quiet(*given, directory=str(tmp_path / "site"))  # noqa: E731
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{other.server_address[1]}/"
        other.shutdown()


def visit(browser: Browser, url: str, action: Any, *, bears: str = "nothing", before: str = "", **media: Any) -> Any:
    """What an action gives that is done on a page of its own; a complaint in its console is a failure, but for one."""

    def do(first: Any) -> Any:
        page = first.context.new_page()
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        try:
            page.add_init_script(before)
            page.emulate_media(**{"reduced_motion": "reduce", **media})
            page.goto(url)
            found = action(page)
            assert [words for words in complaints if bears not in words] == []
            return found
        finally:
            page.close()

    return browser.do(do)


def run_tests(page: Any) -> tuple[str, str]:
    page.click("text=Run the tests in this browser")
    page.wait_for_selector(ENDED, timeout=30_000)
    return page.inner_text("[data-part=headline]"), page.inner_text("[data-part=detail]")


def test_the_tests_run_in_the_browser_when_the_button_is_pressed_and_not_before(
    browser: Browser, server: PackageServer
):
    def look(page: Any) -> tuple[Any, ...]:
        before = page.is_visible("[data-part=status]")
        ended = run_tests(page)
        cases = page.locator(".cases li .verdict").all_inner_texts(), page.locator(".cases li .name").all_inner_texts()
        facts = page.text_content("[data-part=facts]")
        again = run_tests(page)
        return page.inner_text("h2"), before, ended, cases, facts, again, page.inner_text("[data-part=count]")

    title, before, ended, cases, facts, again, count = visit(browser, server.url, look)
    assert title.split() == ["test.toys.Double", "v1"]
    assert not before
    assert ended == again == ("All is well", "2 passed")
    assert cases == (["passed", "passed"], ["whole", "small"])
    assert "swiftshader" in facts
    assert count == "2 of 2 done"


def test_tests_run_over_https_in_a_page_that_was_opened_at_the_whole_address(browser: Browser, root: Path):
    with open_server(fill_shelf([root]), ServeSettings(host="0.0.0.0", port=0)) as server:
        assert visit(browser, server.url, run_tests) == ("All is well", "2 passed")
        bare = f"{server.origin}/"
        assert visit(browser, bare, lambda page: page.locator("button").count()) == 0


def test_a_case_that_fails_is_told_with_the_values(browser: Browser, tmp_path: Path):
    write_package(tmp_path, manifest(), [case("right", [1], [2]), case(EVIL, [1, 2], [2, 5])])

    def look(page: Any) -> tuple[Any, ...]:
        return run_tests(page), page.inner_text(".cases li.bad"), page.locator(".cases img, .cases script").count()

    with open_server(fill_shelf([tmp_path]), ServeSettings(port=0)) as server:
        ended, failed, foreign = visit(browser, server.url, look)
    assert ended == ("There are failures", "1 passed, 1 failed")
    assert "<script>taken()</script>" in failed
    assert "5" in failed
    assert foreign == 0


def test_a_browser_without_webgpu_is_told_so_and_the_packages_are_shown(browser: Browser, server: PackageServer):
    def look(page: Any) -> tuple[Any, ...]:
        return run_tests(page)[0], page.is_enabled("[data-part=run]"), page.is_visible("text=Inputs")

    without = "Object.defineProperty(Navigator.prototype, 'gpu', { value: undefined })"
    found = visit(browser, server.url, look, before=without)
    assert found == ("This browser cannot run WebGPU here", True, True)


def test_tests_can_be_stopped_and_begun_again_by_keyboard(browser: Browser, tmp_path: Path):
    write_package(tmp_path, manifest(), [case(f"case_{index}", [1, 2], [2, 4]) for index in range(400)])

    def look(page: Any) -> tuple[Any, ...]:
        page.focus("[data-part=run]")
        page.keyboard.press("Enter")
        page.wait_for_selector(".cases li")
        focused = page.evaluate("document.activeElement.dataset.part")
        page.keyboard.press("Enter")
        page.wait_for_selector('.status[data-mood="odd"]')
        return focused, page.inner_text("[data-part=headline]"), page.evaluate("document.activeElement.dataset.part")

    with open_server(fill_shelf([tmp_path]), ServeSettings(port=0)) as server:
        assert visit(browser, server.url, look) == ("stop", "Stopped", "run")


def test_a_package_that_breaks_while_the_page_is_open_is_told_when_its_tests_are_begun(
    browser: Browser, server: PackageServer, root: Path
):
    def look(page: Any) -> Any:
        (root / "build" / "webgpu" / "double.wgsl.jinja").write_text("edited")
        page.click("[data-part=run]")
        page.wait_for_selector(ENDED)
        said = page.inner_text("[data-part=headline]"), page.inner_text("[data-part=detail]")
        page.reload()
        return (*said, page.inner_text(".broken"))

    headline, detail, after = visit(browser, server.url, look, bears="409 (Conflict)")
    assert headline == "The tests cannot be run"
    for said in (detail, after):
        assert "double.wgsl.jinja" in said
        assert "the digest of the file is" in said
    (root / "build" / "webgpu" / "double.wgsl.jinja").write_text(DOUBLE.replace("x[id.x] + x[id.x]", "2 * x[id.x]"))
    sign(root / "build" / "webgpu")
    assert visit(browser, server.url, run_tests) == ("All is well", "2 passed")


def test_a_file_is_shown_in_colours_where_it_is_listed_and_anew_when_it_is_opened_again(
    browser: Browser, server: PackageServer, root: Path
):
    def look(page: Any) -> list[Any]:
        summary = page.locator("details.file summary", has_text="double.wgsl.jinja")
        summary.click()
        page.wait_for_selector("details.file pre .keyword")
        seen = [page.inner_text("details.file[open] pre")]
        (root / "build" / "webgpu" / "double.wgsl.jinja").write_text("// rendered anew\n")
        summary.click()
        summary.click()
        page.wait_for_selector("details.file pre >> text=rendered anew")
        return [*seen, page.locator("details.file[open] pre").count()]

    assert visit(browser, server.url, look) == [DOUBLE, 1]


def test_a_page_of_another_origin_loads_a_package_as_the_loader_does(
    browser: Browser, server: PackageServer, elsewhere: str
):
    for base in ("/test.toys.Double", "/kernels/org/test.toys.Double/resolve/v1"):
        found = visit(browser, elsewhere, lambda page, base=base: page.evaluate(LOAD, server.origin + base))
        assert found == ["test.toys.Double", "Double", True]


def test_a_page_of_another_origin_neither_reads_the_page_nor_begins_tests(
    browser: Browser, server: PackageServer, elsewhere: str
):
    def attack(page: Any) -> Any:
        return page.evaluate(
            """async ([origin, token]) => {
              const tried = async (path, options) => {
                try { return (await fetch(origin + path, options)).type; } catch (error) { return error.name; }
              };
              const body = '{"package": "test.toys.Double"}';
              const headers = { "X-Scanbuild-Token": token };
              return [
                await tried("/", {}),
                await tried("/", { mode: "no-cors" }),
                await tried("/-/tests", { method: "POST", body, headers }),
                await tried("/-/tests", { method: "POST", body }),
              ];
            }""",
            [server.origin, server.token],
        )

    def do(first: Any) -> Any:
        page = first.context.new_page()
        try:
            page.goto(elsewhere)
            return attack(page)
        finally:
            page.close()

    assert browser.do(do) == ["TypeError"] * 4


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackageServer]:
    """A plain package, one whose names and texts are long and hostile, and one that is broken."""
    folder = tmp_path_factory.mktemp("rich")
    long = "a_very_long_name" * 12
    made = hostile()
    made["description"] += "\n\n" + "w" * 500
    made["inputs"][long] = {"dtype": "T", "description": "d" * 200, "optional": True}
    variants = [
        variant(long, description="v" * 300, when=["numel(shapes.x) <" + " 1 +" * 80 + " 1"]),
        *made["variants"],
    ]
    inner = write_package(folder / "long", {**made, "variants": variants}, CASES)
    (inner / RENDERED).parent.mkdir(parents=True)
    (inner / RENDERED).write_text(f"// {'long ' * 60}\n@compute fn main() {{ let a = 1u + b; }}\n")
    sign(inner)
    write_package(folder / "plain", manifest(), CASES)
    broken = write_package(folder / "broken", manifest(name="Broken"), CASES)
    shelf = fill_shelf([folder / "long", folder / "plain", folder / "broken"])
    (broken / "manifest.json").write_text(json.dumps({"name": "Broken"}))
    with open_server(shelf, ServeSettings(port=0)) as running:
        yield running


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_the_page_is_legible_on_a_phone_and_a_desk_by_day_and_night(
    browser: Browser, rich: PackageServer, width: int, scheme: str
):
    def look(page: Any) -> tuple[Any, ...]:
        page.set_viewport_size({"width": width, "height": 800})
        closed = page.evaluate("document.scrollingElement.scrollWidth")
        page.evaluate(OPEN_ALL)
        return closed, page.evaluate("document.scrollingElement.scrollWidth"), *page.evaluate(LEGIBLE)

    closed, opened, texts, illegible = visit(browser, rich.url, look, color_scheme=scheme)
    assert max(closed, opened) <= width
    assert texts > 200
    assert illegible == []


def test_the_page_of_a_file_is_legible_and_only_its_code_scrolls(browser: Browser, rich: PackageServer):
    for scheme in ("light", "dark"):

        def look(page: Any) -> tuple[Any, ...]:
            page.set_viewport_size({"width": 390, "height": 800})
            code = page.evaluate(
                "document.querySelector('pre').scrollWidth > document.querySelector('pre').clientWidth"
            )
            return page.evaluate("document.scrollingElement.scrollWidth"), code, page.evaluate(LEGIBLE)[1]

        path = fill_shelf_path(rich)
        found = visit(browser, f"{rich.origin}/-/view/{path}/{RENDERED}", look, color_scheme=scheme)
        assert found == (390, True, [])


def fill_shelf_path(server: PackageServer) -> str:
    return server._shelf.places[0].path


def test_hostile_text_runs_nowhere(browser: Browser, rich: PackageServer):
    def look(page: Any) -> tuple[Any, ...]:
        page.evaluate(OPEN_ALL)
        return page.locator("img, iframe").count(), page.locator("script").count()

    assert visit(browser, rich.url, look) == (0, 1)


def test_one_who_wants_no_motion_gets_none_and_every_control_has_a_name(browser: Browser, rich: PackageServer):
    def look(page: Any) -> tuple[Any, ...]:
        behaviour = page.evaluate("getComputedStyle(document.documentElement).scrollBehavior")
        nameless = page.eval_on_selector_all(
            "button, a, summary, [tabindex], [role=region]",
            """all => all.filter((one) => !one.textContent.trim() && !one.ariaLabel
              && !one.getAttribute("aria-labelledby")).length""",
        )
        page.keyboard.press("Tab")
        return behaviour, nameless, page.evaluate("document.activeElement.textContent")

    assert visit(browser, rich.url, look) == ("auto", 0, "To the packages")
    assert visit(browser, rich.url, look, reduced_motion="no-preference")[0] == "smooth"
