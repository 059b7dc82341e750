import pytest

from scanbuild.planning.int64 import opaque_problem


@pytest.mark.parametrize(
    "text",
    [
        "y[i] = x[i];",
        "let v = x[i]; y[i] = v;",
        "let v : vec2<u32> = x[i]; y[i] = v;",
        "y[i] = select(x[i], w[i], c);",
        "y[i + 1u * 2u] = x[i * 2u - 1u];",
        "y[i] = vec2<u32>(5u, 0u);",
        "return x[i];",
        "y[i] = f(x[i]);",
        "min(a, x[i])",
        "y[i] = abs(x[i]);",
        "a + f(x[i])",
        "f(a, x[i]).x",
        "array<vec2<u32>, 2>(x[i], w[i])",
        "var v: vec2<u32>; v = x[i]; let s = v.x + 1u;",
        "const v = x[0]; let s = v.x;",
        "arrayLength(&x)",
        "ax[i] + 1u",
        "let v = (x[i]); let s = v.x;",
    ],
)
def test_copies_of_opaque_elements_pass(text):
    assert opaque_problem(text, ["x", "w", "y"]) == ""


@pytest.mark.parametrize(
    "text",
    [
        "x[i] + w[i]",
        "-x[i]",
        "x[i].x",
        "x[i][0]",
        "x[i]\n\n+ 1u",
        "(x[i]) + 1u",
        "x[i] == w[i]",
        "&x[i]",
        "!x[i]",
        "x[i]++",
        "x[i] += 1u",
        "a += x[i]",
        "a || x[i]",
        "let v = x[i]; let s = v.y;",
        "let v = x[i]; let u = v; u + 1u",
        "let u = v; let v = x[i]; u + 1u",
        "var v = x[i]; fn other() { q.v.x }",
        "min(x[i], a)",
        "bitcast<f32> ( x[i] , a)",
        "f(x[i]).x",
        "f(x[i]) + a",
        "vec2<u32>(x[i])",
        "let v: vec2<u32>= x[i];",
        "s.x[0] * 2u",
        "x[x[0].y].x",
    ],
)
def test_arithmetic_on_opaque_elements_is_found(text):
    assert opaque_problem(text, ["x", "w", "y"]) != ""


def test_an_index_is_not_examined():
    assert opaque_problem("y[x[i].x] = x[i];", ["y"]) == ""


def test_an_unclosed_index_is_no_element():
    assert opaque_problem("x[i + 1", ["x"]) == ""


def test_a_long_chain_of_copies_is_traced():
    lines = [f"let v{n + 1} = v{n};" for n in range(300)]
    text = "\n".join(["let v0 = x[i];", *lines, "v300 + 1u"])
    assert opaque_problem(text, ["x"]) != ""


def test_hostile_texts_are_scanned_in_linear_time():
    for text in ("(" * 300_000 + "x[i]" + ")" * 300_000, "let a:" * 100_000, "x[" * 300_000):
        opaque_problem(text, ["x"])
    chain = "".join(f"let v{n + 1} = v{n};" for n in reversed(range(30_000)))
    assert opaque_problem(f"{chain} let v0 = x[i]; v30000.x", ["x"]) != ""
