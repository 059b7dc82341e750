"""The JSON Schemas of manifest and metadata as a second opinion on a source package.

How the work is shared: the parsers of this room are the authority. They know everything the loader refuses at load,
they say it in better words, and only they see what a schema cannot (references, families, what follows from the
ports). The schemas state the same language for editors and other tools, as far as a schema can. So a file is put to
its schema only when the parser has nothing to say, and one mistake is never reported twice; what the schema then
finds is scanbuild's own complaint, which the loader would not share. Tests hold that the schemas refuse nothing the
loader accepts.
"""

import json
from functools import cache
from typing import TYPE_CHECKING, Final

from scanbuild.errors import Problem
from scanbuild.package.jsonfile import holds_more_than, json_path, locate
from scanbuild.package.model import Json
from scanbuild.package.text import printable
from scanbuild.resources import data_folder

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

_MESSAGE_LENGTH: Final = 300
_MAX_VIOLATIONS: Final = 50

MAX_VALUES: Final = 10_000
"""A file of more JSON values is not put to its schema, which would take seconds. Published manifests hold a third."""


def schema_problems(value: Json, schema: str, text: str, file: str) -> list[Problem]:
    """What ``schemas/<schema>.schema.json`` finds wrong with the value of a JSON text."""
    problems: list[Problem] = []
    if holds_more_than(value, MAX_VALUES):
        return problems
    for violation in _validator(schema).iter_errors(value):
        path = tuple(violation.absolute_path)
        message = printable(violation.message[:_MESSAGE_LENGTH])
        problem = Problem(message=message, rule="schema", path=json_path(path), stage="own")
        problems.append(problem.at(file, *locate(text, path)))
        if len(problems) >= _MAX_VIOLATIONS:
            break
    return problems


@cache
def _validator(schema: str) -> "Draft202012Validator":
    from jsonschema import Draft202012Validator

    path = data_folder("schemas") / f"{schema}.schema.json"
    return Draft202012Validator(json.loads(path.read_text("utf-8")))
