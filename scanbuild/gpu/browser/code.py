"""The address as a code for the camera of a phone, in the characters of a terminal."""

_LEFT_OUT = 2
"""Light modules around the code. Four are the rule; scanners do with two, and terminals are small."""


def terminal_code(text: str, *, dark_on_light: bool = True) -> list[str]:
    """The lines of a QR code: each character is two modules, one above the other, so that they come out square.

    Drawn for a light ground unless ``dark_on_light`` is false; then light and dark are exchanged.
    """
    import segno

    matrix = [list(map(bool, row)) for row in segno.make(text, error="l", micro=False).matrix_iter(border=_LEFT_OUT)]
    if not dark_on_light:
        matrix = [[not module for module in row] for row in matrix]
    if len(matrix) % 2:
        matrix.append([not dark_on_light] * len(matrix[0]))
    characters = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}
    return [
        "".join(characters[above, below] for above, below in zip(matrix[row], matrix[row + 1], strict=True))
        for row in range(0, len(matrix), 2)
    ]
