"""The loader's expression and template language.

An expression is parsed with :func:`parse_expression` and evaluated in a scope of plain values; a template is expanded
with :func:`expand_includes`, parsed with :func:`parse_template` and rendered in a context of plain values. Both share
one lexer, one parser (on top of Jinja2's) and one evaluator. Every failure is a :class:`DialectError`.
"""

from .errors import DialectError, value_error
from .expression import Expression, parse_expression
from .functions import CONSTANTS
from .helpers import HELPERS, f16_ok
from .includes import Expanded, expand_includes
from .template import Template, parse_template
from .text import WHITE_SPACE, js_number_text, js_string, to_number
from .values import UNDEFINED, Function, NameSet, Plain
from .work import allowance, use, work_left

RESERVED_NAMES = (
    frozenset(HELPERS)
    | frozenset(CONSTANTS)
    | {"repeat", "tunables", "dtypes", "logicalDtypes", "tensorDtypes", "ranks", "shapes", "present", "args", "attrs"}
    | {"device", "env", "constants", "derive", "source", "DISPATCH_FOLD_WIDTH", "f16Ok"}
    | {"range", "loop", "namespace", "dict"}
)
"""Names that no derive may have."""

__all__ = [
    "CONSTANTS",
    "HELPERS",
    "RESERVED_NAMES",
    "UNDEFINED",
    "WHITE_SPACE",
    "DialectError",
    "Expanded",
    "Expression",
    "Function",
    "NameSet",
    "Plain",
    "Template",
    "allowance",
    "expand_includes",
    "f16_ok",
    "js_number_text",
    "js_string",
    "parse_expression",
    "parse_template",
    "to_number",
    "use",
    "value_error",
    "work_left",
]
