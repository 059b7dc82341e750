"""Each rule finds what it is about, and says nothing of the good package (see test_broken_by_hand)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scanbuild.checking.check import check_path
from tests.checking.packages import copy_good, edit, found, replace_in

Change = Callable[[Path], object]


def text(old: str, new: str, file: str = "manifest.json", count: int = 1) -> Change:
    """Replace a text in a file."""
    return lambda package: replace_in(package, file, old, new, count)


def value(change: Callable[[Any], object], file: str = "manifest.json") -> Change:
    """Change the JSON value of a file."""
    return lambda package: edit(package, change, file)


def crlf(file: str) -> Change:
    def change(package: Path) -> None:
        path = package / file
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    return change


def prefixed(file: str, data: bytes) -> Change:
    def change(package: Path) -> None:
        path = package / file
        path.write_bytes(data + path.read_bytes())

    return change


def both(*changes: Change) -> Change:
    def change(package: Path) -> None:
        for item in changes:
            item(package)

    return change


def plain(manifest: Any) -> Any:
    return manifest["variants"][2]


def main_pass(manifest: Any) -> Any:
    return plain(manifest)["passes"][0]


def leave_a_gap(manifest: Any) -> None:
    manifest["variants"][0]["when"][0] = "columns > 1024"
    plain(manifest)["when"] = ["columns < 1024"]


@dataclass(frozen=True)
class Finding:
    """A change of the good package, the rule that finds it, and how grave it is; words of the message."""

    rule: str
    change: Change
    severity: str
    says: str = ""


ROWS = "rows.wgsl.jinja"
FINDINGS = [
    Finding("undeclared-binding", text("{{ env.wgsl.resourceDeclarations }}", "", ROWS), "error", "without declaring"),
    Finding("uniform-field", text("params.columns", "params.colums", ROWS), "error", "columns"),
    Finding("numeric-text", text('"default": 64', '"default": "64"'), "warning", "write 64"),
    Finding("undeclared-type", text('"x": { "dtype": "T"', '"x": { "dtype": "flaot32"'), "warning", "float32"),
    Finding(
        "template-names",
        both(
            value(lambda m: main_pass(m)["derive"].update({"raise_exception": 1})),
            text("{% if biased %}", "{% if biased and raise_exception %}", ROWS),
        ),
        "error",
        "name of the language",
    ),
    Finding("crlf", crlf("rows.wgsl.jinja"), "warning", "newline after a template tag"),
    Finding("crlf", crlf("manifest.json"), "warning", "CRLF"),
    Finding("bom", prefixed("rows.wgsl.jinja", b"\xef\xbb\xbf"), "warning"),
    Finding("encoding", prefixed("rows.wgsl.jinja", b"// \xff\n"), "warning", "UTF-8"),
    Finding("duplicate-key", text('"priority": 10,', '"priority": 10, "priority": 10,'), "warning", "twice"),
    Finding("expression-syntax", text("columns >= 1024", "columns >="), "error"),
    Finding("expression-name", text("columns >= 1024", "colums >= 1024"), "error", "colums"),
    Finding("expression-member", text("not present.bias and attrs", "not present.bais and attrs"), "warning", "bais"),
    Finding("expression-member", text('"ceilDiv(columns, 512)"', '"ceilDiv(numel(shapes.X), 512)"'), "error", "fails"),
    Finding("expression-member", text("columns >= 1024", "device.limits.maxSize >= 1024"), "error", "maxSize"),
    Finding("present-arg", text("if args.limit is defined", "if present.limit"), "warning", "false at a call"),
    Finding("filter", text("ceilDiv(columns, 512)", "columns | default"), "error", "parentheses"),
    Finding("test", text("args.limit is defined", "args.limit is present"), "error", "present"),
    Finding("method", text('"ceilDiv(columns, 512)"', '"shapes.x.index(1)"'), "error", "index"),
    Finding("call", text('"ceilDiv(columns, 512)"', '"shapes(1)"'), "error", "no function"),
    Finding("arguments", text("ceilDiv(columns, 512)", "ceilDiv(columns, 512, 1)"), "warning", "drops"),
    Finding("result-kind", text('"threads": "total"', '"threads": "shapes.x"'), "error", "a list"),
    Finding("uniform-number", text('"value": "count"', '"value": "count > 1"'), "error", "1 if count > 1 else 0"),
    Finding("uniform-number", text('"value": "count"', '"value": true'), "error", "not a number"),
    Finding("uniform-range", text('"value": "count"', '"value": "2 ** 32"'), "error", "u32"),
    Finding("clause-kind", text("columns >= 1024", "columns - 1023"), "warning", "never holds"),
    Finding("constant-value", text('["lines", "parts"]', '["lines", "1.5"]'), "error", "dimension"),
    Finding("expression-value", text('"lines * parts"', '"numel(5)"'), "error"),
    Finding("operand-kind", text("ceilDiv(columns, 512)", "shapes.x + 1"), "error", "list"),
    Finding(
        "list-equality", text("sameShape(shapes.bias, [lines])", "shapes.bias == [lines]"), "warning", "never equal"
    ),
    Finding("feature-in", text("columns >= 1024", "'subgroups' in device.features"), "warning", "has(name)"),
    Finding("dtype-word", text("dtypes.T == 'f32'", "dtypes.T == 'float32'"), "warning", "never"),
    Finding("shape", text('["shapes.x[0]"]', "[-1]"), "error"),
    Finding("dispatch-limit", text('"threads": "total", "workgroupSize": "tunables.width"', '"x": 65536'), "error"),
    Finding(
        "dollar-name", text('"elementType": "$T"', '"elementType": "$width"'), "error", "tunables are out of reach"
    ),
    Finding(
        "sized-type",
        value(lambda m: main_pass(m)["bindings"].__setitem__(0, {"arg": "x", "elementType": "vec4f", "length": 4})),
        "error",
        "vec4f",
    ),
    Finding(
        "struct-clash",
        value(
            lambda m: main_pass(m)["bindings"].append(
                {"name": "q", "struct": [{"name": "a", "type": "u32", "value": 1}]}
            )
        ),
        "error",
        "Params",
    ),
    Finding("struct-name", value(lambda m: m["bindings"]["params"].update(structName="my params")), "error"),
    Finding(
        "uniform-shadowed",
        value(lambda m: m["bindings"]["params"].update(name="p", arg="y")),
        "error",
        "loses its values",
    ),
    Finding("uniform-missing", text(', "value": "count"', ""), "error", '"value": "count"'),
    Finding("scratch-shape", text('"shape": ["lines", "parts"]', '"shape": []'), "error"),
    Finding(
        "scratch-duplicate",
        value(lambda m: m["variants"][0]["intermediates"].append(m["variants"][0]["intermediates"][0])),
        "warning",
    ),
    Finding("pass-id", text('"id": "merge"', '"id": "parts"'), "error"),
    Finding(
        "no-pass",
        value(lambda m: plain(m).update(passes=[{"repeat": {"index": "i", "count": 0}, "passes": plain(m)["passes"]}])),
        "error",
    ),
    Finding("template-syntax", text("{% endif %}", "{% end %}", ROWS), "error"),
    Finding("template-include", text('"number.', '"numbers.', ROWS), "error"),
    Finding("template-names", text("{% if biased %}", "{% set biased + 1 = 2 %}{% if biased %}", ROWS), "error"),
    Finding("undefined-name", text("({{ zero }})", "({{ zeros }})", ROWS), "warning", "zeros"),
    Finding("undefined-name", text("({{ zero }})", "({{ zeros + 1 }})", ROWS), "error", "fails"),
    Finding("undefined-member", text("attrs.scale", "attrs.scal", ROWS, 2), "warning", "scal"),
    Finding("unused-derive", text('"parts": "ceilDiv', '"idle": 1, "parts": "ceilDiv'), "warning", "idle"),
    Finding("unused-tunable", text('"width": {', '"idle": { "default": 1 }, "width": {'), "warning", "idle"),
    Finding("unused-attribute", text('"scale": {', '"idle": { "default": 1 }, "scale": {'), "warning", "idle"),
    Finding(
        "unused-argument", text('"limit": {', '"idle": { "kind": "u32", "required": false }, "limit": {'), "warning"
    ),
    Finding("unused-handle", text('"params": {', '"idle": { "arg": "x" }, "params": {'), "warning", "idle"),
    Finding(
        "unused-scratch",
        text('"intermediates": [', '"intermediates": [{ "id": "idle", "dtype": "float32", "shape": 1 },'),
        "warning",
        "idle",
    ),
    Finding("unused-type", text('"T": ["float32", "int32"]', '"T": ["float32", "int32"], "U": ["bool"]'), "warning"),
    Finding("unused-template", lambda p: (p / "idle.wgsl.jinja").write_text("//\n", encoding="utf-8"), "warning"),
    Finding(
        "no-oracle", text(', "data": { "kind": "values", "values": [6, 15] }', "", "test.json"), "warning", "never pass"
    ),
    Finding(
        "superseded-idle",
        value(lambda m: plain(m).update(supersededBy=["split"])),
        "note",
        "changes nothing",
    ),
    Finding("no-variant", value(leave_a_gap), "warning", "1024"),
    Finding("workgroup-size", text('"workgroupSize": "tunables.width"', '"workgroupSize": 32'), "warning", "64"),
    Finding(
        "overshoot",
        text("  if (row >= params.rows) {\n    return;\n  }\n  var sum", "  var sum", ROWS),
        "warning",
    ),
    Finding(
        "fold", text("(group.y * {{ DISPATCH_FOLD_WIDTH }}u + group.x)", "group.x", "number.wgsl.jinja"), "warning"
    ),
    Finding("unused-binding", text("  sum += bias[row];\n", "", ROWS), "warning", "bias"),
    Finding("missing-limit", text('"width": { "default": 64 }', '"width": { "default": 512 }'), "warning", "512"),
    Finding(
        "missing-limit",
        text("fn number(", "var<workgroup> big: array<vec4<f32>, 2048>;\nfn number(", "number.wgsl.jinja"),
        "warning",
        "maxComputeWorkgroupStorageSize",
    ),
    Finding("missing-feature", text("  y[row] = sum;", "  y[row] = subgroupAdd(sum);", ROWS), "warning", "subgroups"),
    Finding("losing-variant", value(lambda m: plain(m).update(priority=20)), "warning", "goes before it"),
    Finding("unreached-variant", text("columns >= 1024", "columns < 0"), "warning", "`columns < 0` is false"),
    Finding(
        "unreached-variant",
        text('"priority": 10,', '"priority": 10, "requires": { "subgroupMinSize": 999 },'),
        "warning",
        "no built-in device profile",
    ),
    Finding("expected-variant", text('"expectVariant": "split"', '"expectVariant": "plain"', "test.json"), "warning"),
    Finding(
        "literal-text", text('"scale": { "default": 1 }', '"scale": { "default": "max(1, 2)" }'), "warning", "evaluates"
    ),
    Finding("expression-name", text('["present.bias"]', '["bias is defined"]'), "warning", "present.bias"),
    Finding("undeclared-type", text('"x": { "dtype": "T"', '"x": { "dtype": "f32"'), "warning", "float32"),
    Finding("no-variant", text('"ranks.x == 2",', '"ranks.x == 2", "lines < 0",'), "error", "no case gets past"),
    Finding("call-refused", text('"lines * parts"', '"lines * parts if lines != 1 else -9999"'), "warning"),
    Finding("type", text('"x": { "dtype": "int32"', '"x": { "dtype": "uint32"', "test.json"), "error", "uint32"),
]


def alone(manifest: Any) -> None:
    """Leave the variant that takes anything, and no other."""
    manifest["variants"] = [plain(manifest)]


def without_cases(package: Path) -> None:
    (package / "test.json").write_text('{ "cases": [] }\n', encoding="utf-8")
    (package / "bench.json").write_text('{ "cases": [] }\n', encoding="utf-8")


ALONE = [
    Finding("unreached-variant", value(lambda m: m["when"].append("false")), "warning", "no variant takes any request"),
    Finding("unreached-variant", value(lambda m: plain(m).update(when=["false"])), "warning", "`false` is false"),
    Finding(
        "unreached-variant",
        value(lambda m: m.update(requires={"limits": {"maxBindGroups": 4000}})),
        "warning",
        "no built-in device profile",
    ),
    Finding("wgsl", text("fn main(", "fn Main(", ROWS), "error", "every request that was tried"),
    Finding("dispatch", value(lambda m: main_pass(m)["dispatch"].update(threads="0 - 100 - lines")), "error", "tried"),
    Finding("dispatch-limit", value(lambda m: main_pass(m)["dispatch"].update(threads="lines + 2 ** 40")), "error"),
    Finding(
        "wgsl", value(lambda m: main_pass(m)["bindings"].__setitem__(0, {"arg": "x", "elementType": "wat"})), "error"
    ),
    Finding(
        "call-refused",
        both(
            value(lambda m: m["outputs"]["y"].update(dtype="Z")),
            value(lambda m: m["typeConstraints"].update(Z=["int8", "uint32"])),
        ),
        "warning",
        "brings the output along",
    ),
    Finding("binding-absent", value(lambda m: main_pass(m)["bindings"].append("bias")), "error", "present.bias"),
    Finding(
        "call-refused",
        value(lambda m: main_pass(m)["dispatch"].update(threads="lines if lines != 1 else -9999")),
        "warning",
        "-9999",
    ),
]


@pytest.mark.parametrize("finding", ALONE, ids=lambda item: f"{item.rule}-{item.severity}-{item.says[:20]}")
def test_a_lone_variant_without_cases_is_tried_with_made_up_requests(finding, tmp_path):
    package = copy_good(tmp_path)
    finding.change(package)
    edit(package, alone)
    without_cases(package)
    problems = [item for item in check_path(package).problems if item.rule == finding.rule]
    listed = "\n".join(f"{item.severity} {item.rule} {item}" for item in check_path(package).problems)
    assert [item.severity for item in problems] == [finding.severity], listed
    assert finding.says in f"{problems[0].message} {problems[0].hint}", listed


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda item: f"{item.rule}-{item.severity}")
def test_a_rule_finds_what_it_is_about(finding, tmp_path):
    package = copy_good(tmp_path)
    finding.change(package)
    problems = found(package, finding.rule)
    listed = "\n".join(f"{item.severity} {item.rule} {item}" for item in check_path(package).problems)
    assert problems, listed
    assert problems[0].severity == finding.severity, listed
    assert any(finding.says in f"{item.message} {item.hint}" for item in problems), listed
    assert all(item.line and item.column and item.file for item in problems)


def test_every_rule_is_documented():
    documented = (Path(__file__).resolve().parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")
    assert [
        finding.rule for finding in FINDINGS if f"`{finding.rule}`" not in documented and finding.rule != "type"
    ] == []
