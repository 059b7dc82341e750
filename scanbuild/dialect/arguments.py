"""The arguments of built-in functions and filters."""

from dataclasses import dataclass

from .errors import value_error
from .values import BROKEN, HOLE, KeywordArguments, Value


@dataclass(frozen=True, slots=True)
class Arguments:
    """Positional arguments and named ones."""

    args: list[Value]
    named: dict[str, Value]

    @classmethod
    def of(cls, arguments: list[Value]) -> "Arguments":
        """What a call passed: the named ones are its last argument."""
        named = [argument for argument in arguments if isinstance(argument, KeywordArguments)]
        if not named:
            return cls(arguments, {})
        return cls([argument for argument in arguments if not isinstance(argument, KeywordArguments)], named[-1])

    def get(self, position: int, name: str, default: Value) -> Value:
        """An argument by position, else by name."""
        value = self.args[position] if position < len(self.args) else HOLE
        if value is HOLE:
            value = self.named.get(name, HOLE)
        return default if value is HOLE else value

    def flag(self, position: int, name: str) -> bool:
        """A boolean that is false by default."""
        value = self.get(position, name, False)
        if type(value) is not bool:
            raise value_error(f"{name} must be a boolean")
        return value


def argument(arguments: list[Value], position: int, default: Value = None) -> Value:
    """A positional argument, named ones counting as one more."""
    value = arguments[position] if position < len(arguments) else HOLE
    return default if value is HOLE else value


def string_argument(value: Value) -> str | None:
    """A string that the host reads as text, the broken one as ``undefined``; None for what is no string."""
    if value is BROKEN:
        return "undefined"
    return value if type(value) is str else None
