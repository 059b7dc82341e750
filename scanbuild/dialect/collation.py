"""The order of ``tojson(sort_keys=true)``: that of ``localeCompare``, not of code units.

The host compares with the root collation: first base letters, punctuation before digits before letters; then accents;
then case, lower before upper. For ASCII this is exact. Beyond it, letters are taken apart by Unicode's decompositions
and ordered by code point, which keeps accented Latin letters beside their bases and other scripts behind Latin.
"""

import unicodedata
from typing import Final

_ASCII: Final = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
_RANKS: Final = {character: rank for rank, character in enumerate(_ASCII)}
_SYMBOLS_END: Final = _RANKS["0"] - 0.5
_LETTERS_END: Final = float(len(_ASCII))
_LIKE: Final = {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ı": "i", "ð": "d", "þ": "th"}

Weight = tuple[float, int]
Key = tuple[tuple[Weight, ...], tuple[int, ...], tuple[int, ...]]


def collation_key(text: str) -> Key:
    """A key whose order is the collation's."""
    primary: list[Weight] = []
    accents: list[int] = []
    cases: list[int] = []
    for character in unicodedata.normalize("NFKD", text):
        if unicodedata.combining(character):
            accents.append(ord(character))
            continue
        lowered = character.casefold()
        for letter in _LIKE.get(lowered, lowered):
            weight = _weight(letter)
            if weight is not None:
                primary.append(weight)
                accents.append(1 if lowered in _LIKE else 0)
                cases.append(0 if character == character.lower() else 1)
    return tuple(primary), tuple(accents), tuple(cases)


def _weight(letter: str) -> Weight | None:
    """The primary weight of a lower-case base letter; None for a control character, which does not count."""
    rank = _RANKS.get(letter)
    if rank is not None:
        return float(rank), 0
    if letter <= "\x7f" or unicodedata.category(letter) in ("Cc", "Cf"):
        return None
    return (_LETTERS_END if letter.isalpha() else _SYMBOLS_END), ord(letter)
