"""The pages of the commands are what the commands say of themselves."""

import click
import pytest

from scanbuild.commands import COMMANDS
from tools.command_pages import PAGES, command_page, pages, stale_pages


def test_the_pages_are_those_that_the_help_gives_now():
    assert stale_pages() == [], "these pages of docs/commands/ are stale: run `make docs`, and commit them"


def test_every_command_has_a_page_and_no_page_is_without_its_command():
    assert set(pages()) == {"README.md", *(f"{name}.md" for name in COMMANDS)}
    assert {path.name for path in PAGES.iterdir()} == set(pages())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_shows_examples_and_every_option(name: str):
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert "## Examples\n\n    scanbuild" in page
    assert "| `-q`, `--quiet` |" in page


@click.command()
@click.argument("place")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Where *it* starts.")
@click.option("--way", type=click.Choice(["up", "down"]), help="Up|down.")
@click.option("--secret", hidden=True)
def sample(**_values: object) -> None:
    """Do it with <care and love>, as 'scanbuild check' does: pip install 'scanbuild[care]'.

    \b
    Examples:
      scanbuild sample *
    """


def test_what_means_something_in_markdown_is_told_as_code():
    page = command_page("sample", sample)
    assert "    scanbuild sample [OPTIONS] PLACE\n" in page
    assert "Do it with `<care and love>`, as `scanbuild check` does: `pip install 'scanbuild[care]'`." in page
    assert "## Examples\n\n    scanbuild sample *\n" in page
    assert "| `--seed` `INTEGER` | Where `*it*` starts. Default: `0`. At least 0. |" in page
    assert "| `--way` `up / down` | `Up\\|down`. |" in page
    assert "secret" not in page
