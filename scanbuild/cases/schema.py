"""Checking a JSON value against one of the project's schemas, with the place of every problem."""

import json
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from scanbuild.errors import Problem
from scanbuild.package.jsonfile import json_path
from scanbuild.package.model import Json
from scanbuild.package.report import Report, nearest, shown
from scanbuild.resources import data_folder

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Violation: TypeAlias = Any  # a ValidationError of jsonschema, whose members are as loose as JSON

_LONG: Final = 64
_KINDS: Final = {
    "array": "a list",
    "object": "an object",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}


def check_schema(value: Json, schema: str, report: Report, *, foreign: bool = False) -> None:
    """Add every violation of ``schemas/<schema>.schema.json`` to a report.

    A member the schema does not know is an error, or a note in a ``foreign`` file, which nobody here can mend.
    """
    for error in _violations(value, schema):
        path = tuple(error.absolute_path)
        if error.validator == "additionalProperties" and isinstance(error.instance, dict):
            known = list(error.schema.get("properties", {}))
            for name in error.instance:
                if name not in known:
                    severity = "note" if foreign else "error"
                    report.add(
                        (*path, name),
                        "unknown-member",
                        f"there is no member {shown(name)} here",
                        hint=nearest(name, known),
                        key=True,
                        severity=severity,  # type: ignore[arg-type]  # one of the two literals above
                    )
        else:
            report.add(path, "schema", _words(error))


def schema_problems(value: Json, schema: str) -> list[Problem]:
    """The violations of a value that stands in no file, such as a report about to be written."""
    return [
        Problem(message=_words(error), path=json_path(tuple(error.absolute_path)))
        for error in _violations(value, schema)
    ]


def _violations(value: Json, schema: str) -> Iterator[Violation]:
    yield from _validator(schema).iter_errors(_shortened(value))


@cache
def _validator(schema: str) -> "Draft202012Validator":
    """The validator of a schema; references lead to the other files of the folder."""
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    resources: list[tuple[str, Any]] = []
    for file in sorted(data_folder("schemas").glob("*.schema.json")):
        contents = json.loads(file.read_text(encoding="utf-8"))
        resources.append((file.name, Resource.from_contents(contents)))
    registry: Any = Registry().with_resources(resources)
    return Draft202012Validator(registry.contents(f"{schema}.schema.json"), registry=registry)


def _shortened(value: Json) -> Json:
    """The value with every long list of nothing but numbers cut short: all of them are as good as the first."""
    if isinstance(value, dict):
        return {name: _shortened(member) for name, member in value.items()}
    if isinstance(value, list):
        if len(value) > _LONG and all(type(item) in (int, float) for item in value):
            return value[:1]
        return [_shortened(item) for item in value]
    return value


def _words(error: Violation) -> str:
    found, rule = shown(error.instance), error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in rule if name not in error.instance]
            return f"the member{'s' if len(missing) > 1 else ''} {', '.join(missing)} must be given"
        case "type":
            kinds = rule if isinstance(rule, list) else [rule]
            return f"found {found}, expected {' or '.join(_KINDS.get(kind, str(kind)) for kind in kinds)}"
        case "enum":
            hint = nearest(error.instance, rule) if isinstance(error.instance, str) else ""
            return f"found {found}, expected one of {', '.join(rule)}" + (f"; {hint}" if hint else "")
        case "pattern" | "oneOf":
            form = error.schema.get("description", "").rstrip(".")
            expected = f"expected {form[:1].lower() + form[1:]}" if form else "which is not of the form allowed here"
            return f"found {found}, {expected}"
        case "minimum" | "exclusiveMinimum":
            return f"found {found}, expected {'at least' if error.validator == 'minimum' else 'more than'} {rule}"
        case "maxItems":
            return f"found {found}, expected at most {rule} elements"
        case "minLength" | "minItems" | "minProperties":
            return f"found {found}, which must not be empty"
        case _:
            return f"found {found}: {error.message[:200]}"
