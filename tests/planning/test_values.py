"""Host data, uniforms and results: the numbers that go up and come back."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from scanbuild.errors import CallError
from scanbuild.package.model import Field
from scanbuild.planning.dtypes import DTYPES, buffer_size
from scanbuild.planning.host import HostType, host_type, narrow, pack_bytes, to_storage
from scanbuild.planning.plan import TensorSpec
from scanbuild.planning.request import HostTensor
from scanbuild.planning.results import to_array
from scanbuild.planning.uniforms import number_problem, pack, padded_fields, range_problem, uniform_size


def tensor(array, dtype=None, array_class=None):
    return HostTensor(array=array, shape=array.shape, dtype=dtype, array_class=array_class)


@pytest.mark.parametrize(
    ("numpy", "dtype"),
    [
        ("float32", "float32"),
        ("float16", "float16"),
        ("int8", "int8"),
        ("int16", "int16"),
        ("int32", "int32"),
        ("int64", "int64"),
        ("uint8", "uint8"),
        ("uint16", "float16"),
        ("uint32", "uint32"),
        ("bool", "bool"),
    ],
)
def test_without_a_dtype_the_class_of_the_array_decides(numpy, dtype):
    assert host_type("x", tensor(np.zeros(2, dtype=numpy))).dtype == dtype


@pytest.mark.parametrize("numpy", ["float64", "uint64", "complex64", "U3"])
def test_other_classes_are_refused_even_with_a_dtype(numpy):
    for dtype in (None, "float32"):
        with pytest.raises(CallError, match=r"array of"):
            host_type("x", tensor(np.zeros(2, dtype=numpy), dtype))


@pytest.mark.parametrize(
    ("numpy", "dtype"), [("int32", "int64"), ("int64", "int32"), ("float16", "float32"), ("float32", "float64")]
)
def test_some_pairs_of_class_and_dtype_are_refused(numpy, dtype):
    with pytest.raises(CallError):
        host_type("x", tensor(np.zeros(2, dtype=numpy), dtype))


def convert(values, numpy, dtype):
    data = np.array(values, dtype=numpy)
    return to_storage(data, host_type("x", tensor(data, dtype))).tolist()


def test_values_are_converted_as_typed_arrays_convert():
    assert convert([1.9, -1.9, 3e9, math.nan, math.inf], "float32", "int32") == [1, -1, -1294967296, 0, 0]
    assert convert([-1.0, 1.5], "float32", "uint8") == [4294967295, 1]
    assert convert([16777217, -1], "int32", "float32") == [16777216.0, -1.0]
    assert convert([300, -129], "int32", "int8") == [300, -129]
    assert convert([-1], "int8", "uint32") == [4294967295]
    assert convert([7], "uint16", "int32") == [7]
    assert convert([0x3C00], "uint16", "float16") == [1.0]
    assert convert([15360.0], "float32", "float16") == [1.0]
    assert convert([True, False], "bool", None) == [1, 0]
    assert convert([0, 2, 255], "uint8", "bool") == [0, 2, 255]


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_floats_wrap_to_32_bits_exactly(value):
    expected = math.trunc(value) % 2**32
    assert convert([value], "float32", "uint32") == [expected]


def test_checked_narrowing_names_the_first_element_out_of_range():
    words = np.array([1, 2**31], dtype=np.int64)
    with pytest.raises(CallError, match="element 1 is 2147483648"):
        narrow("x", words, "int32", saturating=False)
    assert narrow("x", words, "int32", saturating=True).tolist() == [1, 2**31 - 1]
    assert narrow("x", np.array([-5, 2**40]), "uint32", saturating=True).tolist() == [0, 2**32 - 1]


def test_packed_bytes_have_to_be_bytes():
    assert pack_bytes("x", np.array([1, 2, 3, 4, 255], dtype=np.uint32)).tolist() == [1, 2, 3, 4, 255, 0, 0, 0]
    with pytest.raises(CallError, match="element 0 is 4294967295"):
        pack_bytes("x", np.array([2**32 - 1], dtype=np.uint32))


def test_buffers_are_whole_words_and_at_least_one():
    assert buffer_size("float16", (3,)) == 8
    assert buffer_size("float32", (0, 3)) == 4
    assert buffer_size("int8", ()) == 4
    assert buffer_size("int64", (3,)) == 24
    assert buffer_size("uint8", (5,), packed=True) == 8


def spec(dtype, shape, logical=None, packed=False):
    return TensorSpec(
        name="y",
        dtype=dtype,
        logical=logical or dtype,
        shape=shape,
        size=buffer_size(dtype, shape, packed),
        packed=packed,
    )


@pytest.mark.parametrize("dtype", list(DTYPES))
@given(data=st.data())
def test_what_goes_up_comes_back(dtype, data):
    natural = DTYPES[dtype].natural
    shape = data.draw(npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    array = data.draw(npst.arrays(natural, shape))
    given_class = None if dtype != "bool" else "Uint8Array"
    storage = to_storage(array, host_type("x", tensor(array, dtype, given_class)))
    padded = storage.tobytes().ljust(buffer_size(dtype, shape), b"\0")
    back = to_array(spec(dtype, shape), padded)
    assert back.shape == shape
    assert back.tobytes() == array.tobytes()


def test_results_wrap_extend_and_unpack():
    assert to_array(spec("int8", (2,)), struct.pack("<ii", 200, -129)).tolist() == [-56, 127]
    assert to_array(spec("bool", (2,)), struct.pack("<II", 256, 3)).tolist() == [0, 3]
    assert to_array(spec("int32", (1,), "int64"), struct.pack("<i", -2)).tolist() == [-2]
    assert to_array(spec("uint32", (1,), "int64"), struct.pack("<I", 2**32 - 2)).tolist() == [2**32 - 2]
    assert to_array(spec("uint8", (3,), packed=True), bytes([1, 2, 255, 0])).tolist() == [1, 2, 255]


def test_a_host_type_without_data_needs_a_dtype():
    assert host_type("x", HostTensor(shape=[2], dtype="int64")) == HostType(array_class="BigInt64Array", dtype="int64")
    with pytest.raises(CallError, match="dtype has to be given"):
        host_type("x", HostTensor(shape=[2]))


def fields(*names):
    return tuple(Field(name=name, type="u32") for name in names)


def test_padding_fields_skip_every_name_in_use():
    assert [name for name, _ in padded_fields(fields("_pad1", "n"))] == ["_pad1", "n", "_pad0", "_pad2"]
    assert padded_fields(()) == []
    assert uniform_size(fields("a", "b", "c", "d", "e")) == 32


@given(st.floats(width=64, allow_nan=False))
def test_f32_fields_are_rounded_to_nearest_and_overflow_to_infinity(value):
    data = pack((Field(name="v", type="f32"),), {"v": value})
    with np.errstate(over="ignore"):
        assert data == np.float32(value).tobytes() + bytes(12)


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("u32", 4294967295, True),
        ("u32", 4294967296, False),
        ("u32", -1, False),
        ("u32", -0.0, True),
        ("u32", 2.0, True),
        ("u32", 2.5, False),
        ("i32", -2147483648, True),
        ("i32", -2147483649, False),
        ("f32", 1e300, True),
    ],
)
def test_integer_fields_have_a_range(kind, value, fits):
    assert (range_problem(kind, value) == "") is fits


@pytest.mark.parametrize("value", [True, "1", [1], {}, None, math.nan])
def test_only_numbers_go_into_uniforms(value):
    assert number_problem("f32", value) != ""


def test_infinities_go_into_f32_fields_only():
    assert number_problem("f32", math.inf) == ""
    assert number_problem("u32", math.inf) != ""


def test_a_fraction_in_a_whole_field_is_told_what_fits():
    assert range_problem("u32", 0.5) == "0.5 is no u32, a whole number from 0 to 4294967295"
    assert range_problem("i32", 2.0**31) == "2147483648 is no i32, a whole number from -2147483648 to 2147483647"
    assert range_problem("f32", 1e-5) == ""
