"""Comments that allow a warning, with a reason."""

from scanbuild.checking.check import check_path
from tests.checking.packages import copy_good, edit, found, replace_in

IDLE = '"parts": "ceilDiv'


def allow(comment):
    """The package gets a derive that nobody reads, beside a comment."""

    def change(manifest):
        derive = manifest["variants"][0]["derive"]
        derive.update({"idle": 1, "$comment": comment})

    return change


def rules(package):
    return [problem.rule for problem in check_path(package).problems]


def test_a_comment_with_a_reason_suppresses_a_warning_of_its_object(tmp_path):
    package = copy_good(tmp_path)
    edit(package, allow("scanbuild: allow unused-derive - kept for callers of version 1"))
    result = check_path(package)
    assert result.problems == ()
    assert result.suppressed == 1


def test_a_comment_of_an_enclosing_object_counts_too(tmp_path):
    package = copy_good(tmp_path)
    edit(package, lambda m: m["variants"][0]["derive"].update(idle=1))
    edit(package, lambda m: m.update({"$comment": "scanbuild: allow unused-derive, crlf - an example"}))
    assert rules(package) == []


def test_a_comment_elsewhere_suppresses_nothing(tmp_path):
    package = copy_good(tmp_path)
    edit(package, lambda m: m["variants"][0]["derive"].update(idle=1))
    edit(package, lambda m: m["variants"][1].update({"$comment": "scanbuild: allow unused-derive - the wrong place"}))
    assert sorted(rules(package)) == ["idle-suppression", "unused-derive"]


def test_a_comment_without_a_reason_does_not_count(tmp_path):
    package = copy_good(tmp_path)
    edit(package, allow("scanbuild: allow unused-derive"))
    assert sorted(rules(package)) == ["suppression", "unused-derive"]
    assert found(package, "suppression")[0].severity == "warning"


def test_a_comment_without_a_rule_does_not_count(tmp_path):
    package = copy_good(tmp_path)
    edit(package, allow("scanbuild: allow - everything"))
    assert "suppression" in rules(package)


def test_an_ordinary_comment_is_left_alone(tmp_path):
    package = copy_good(tmp_path)
    edit(package, allow("scanbuild would complain of this"))
    assert rules(package) == ["unused-derive"]


def test_a_suppression_that_suppresses_nothing_is_a_note(tmp_path):
    package = copy_good(tmp_path)
    edit(package, lambda m: m.update({"$comment": "scanbuild: allow unused-derive - long gone"}))
    (problem,) = check_path(package).problems
    assert (problem.rule, problem.severity) == ("idle-suppression", "note")


def test_an_error_cannot_be_suppressed(tmp_path):
    package = copy_good(tmp_path)
    replace_in(package, "manifest.json", IDLE, '"$comment": "scanbuild: allow expression-name - no", "parts": "ceildiv')
    result = check_path(package)
    assert [problem.rule for problem in result.problems if problem.severity == "error"] == ["expression-name"]
    assert "errors cannot be suppressed" in found(package, "idle-suppression")[0].hint


def test_a_template_comment_suppresses_a_warning_of_its_file(tmp_path):
    package = copy_good(tmp_path)
    path = package / "rows.wgsl.jinja"
    comment = "{# scanbuild: allow undefined-name - a name of tomorrow #}\n"
    path.write_text(
        comment + path.read_text(encoding="utf-8").replace("({{ zero }})", "({{ zeros }})"), encoding="utf-8"
    )
    left = rules(package)
    assert "undefined-name" not in left
    assert "idle-suppression" not in left


def test_suppression_is_by_file(tmp_path):
    package = copy_good(tmp_path)
    path = package / "rows.wgsl.jinja"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    other = package / "parts.wgsl.jinja"
    other.write_text("{# scanbuild: allow crlf - not this file #}\n" + other.read_text("utf-8"), encoding="utf-8")
    assert "crlf" in rules(package)
