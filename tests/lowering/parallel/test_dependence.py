"""What depends on what, and the order in which states can be scanned."""

from scanbuild.lowering.dependence import feeds, knots, layers, needed, reads_of
from tests.lowering.build import Body


def chained():
    """A counter, a mean that needs it, and a pair that turns around each other and reads the mean."""
    body = Body()
    count, mean, real, imaginary = (body.state(name, []) for name in ("count", "mean", "real", "imaginary"))
    x, w = body.element("x", []), body.capture("w", [])
    more = body.add("add", count, body.constant(1.0))
    closer = body.add("add", mean, body.add("div", body.add("sub", x, mean), more))
    turned = body.add("sub", body.add("mul", real, w), imaginary)
    body.update(more, closer, turned, body.add("add", real, closer))
    body.output("ys", x)
    return body.scan()


def test_a_value_reads_states_elements_and_captures_through_other_values():
    scan = chained()
    reads = reads_of(scan)
    assert reads[scan.states[1].after].states == {0, 1}
    assert reads[scan.states[1].after].elements == {0}
    assert reads[scan.states[2].after].captures == {0}
    assert reads[scan.outputs[0].node].states == frozenset()
    assert not reads[scan.outputs[0].node].step_invariant
    assert reads["w_value"].step_invariant


def test_the_matrix_has_a_row_for_each_update():
    assert [sorted(row) for row in feeds(chained())] == [[0], [0, 1], [2, 3], [0, 1, 2]]


def test_states_in_a_circle_form_a_knot_behind_what_it_reads():
    rows = feeds(chained())
    assert knots(rows) == ((0,), (1,), (2, 3))
    assert layers(rows) == (((0,),), ((1,),), ((2, 3),))


def test_states_with_nothing_in_common_share_a_layer():
    rows = (frozenset({0}), frozenset({1}), frozenset({0, 1, 2}))
    assert layers(rows) == (((0,), (1,)), ((2,),))


def test_a_circle_through_several_states_is_one_knot():
    rows = (frozenset({1}), frozenset({2}), frozenset({0}), frozenset({3}))
    assert set(knots(rows)) == {(0, 1, 2), (3,)}


def test_only_what_a_value_is_computed_from_is_needed():
    scan = chained()
    names = {node.name for node in needed(scan.nodes, [scan.states[0].after])}
    assert "x_now" not in names
    assert {"count", scan.states[0].after} <= names
