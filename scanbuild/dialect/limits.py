"""Bounds that keep hostile texts from exhausting time or memory.

The loader has none of its own: there the host's call stack and memory end things. A text that meets one of these bounds
fails with a :class:`~scanbuild.dialect.errors.DialectError` of kind ``limit``. They lie far above what a kernel package
needs.
"""

MAX_EXPRESSION_LENGTH = 1 << 18
"""Characters of one expression."""

MAX_TEMPLATE_LENGTH = 1 << 22
"""Characters of one template after its includes are expanded."""

MAX_TOKENS = 200_000
"""Names, numbers, strings, operators, tag ends and pieces of text of one expression or template."""

MAX_INCLUDES = 10_000
"""Include tags replaced while one template is expanded (empty files included many times cost no characters)."""

MAX_NESTING = 400
"""Brackets, unary operators, conditionals and statements inside each other."""

MAX_CALL_DEPTH = 100
"""Macros and call blocks running inside each other."""

MAX_STEPS = 2_000_000
"""Loop iterations and macro calls of one rendering, all loops together."""

MAX_TEXT = 1 << 24
"""Characters of one string, hence also of a rendered template."""

MAX_ITEMS = 1 << 20
"""Elements of one list made by ``range``, ``fill``, ``+`` or a string split into characters."""

MAX_WORK = 1 << 27
"""Work of one evaluation, counted in characters that are copied or read."""

NODE_COST = 80
"""What converting, printing or comparing one value counts for, in characters."""

LIST_COST = 160
"""What converting a list counts for beside its elements."""

COMPARE_COST = 112
"""What one comparison of a sort counts for by itself, in characters."""

ITEM_COST = 16
"""What copying or looking at one element of a list, or at one character of a string that is not ASCII, counts for."""

LOOP_COST = 96
"""What beginning a loop counts for by itself, in characters."""

ITERATION_COST = 24
"""What one loop iteration or macro call counts for by itself, in characters."""

BODY_COST = 26
"""What each node of the body of a loop or macro counts for, whenever it runs."""

CALL_WEIGHT = 12
"""How many nodes a macro call counts for beside those of the macro's body."""

TAG_COST = 3000
"""What parsing one tag of a template counts for, where several parsings share an allowance."""

NUMBER_COST = 8
"""What making or printing a whole number counts for."""

EVALUATION_COST = 512
"""What one evaluation of an expression or template counts for by itself, where several share an allowance."""

PARSE_COST = 400
"""What reading one character of an expression counts for that is too long to be kept."""

CALL_WORK = MAX_WORK
"""Work of all evaluations of one call."""

PLAN_WORK = 1 << 20
"""What a command that plans many calls may do for each, in addition to ``CALL_WORK`` for all."""

SLICE_COST = 4
"""What each element, or character, of what is sliced counts for."""

SMALL = 256
"""Strings and lists up to this length are not counted when they are read."""

EXPRESSION_CACHE = 4096
"""Parsed expressions kept (least recently used ones go first)."""

MAX_CACHED_LENGTH = 4096
"""Characters of an expression that is kept."""
