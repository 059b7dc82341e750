"""The published ``ai.onnx.Scan``, held to the rules of the format by code that shares none with scanbuild.

First what the loader asks of metadata and files, then what it makes of templates: declarations, ``enable``
directives, references, uniforms. The rules on opaque int64 have no object here: no port of the package admits it.
"""

import base64
import hashlib
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from kernels_data import Digest, DigestAlgorithm

from scanbuild import gpu
from scanbuild.cases.casefile import read_tests
from scanbuild.cases.requests import case_request
from scanbuild.commands import main
from scanbuild.errors import NoAdapterError
from scanbuild.package.folder import open_folder
from scanbuild.planning.plan import PassPlan
from scanbuild.planning.planner import Planner
from scanbuild.planning.profiles import profiles
from scanbuild.resources import data_folder

OP_ID = "ai.onnx.Scan"
PATH = re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*")
STABLE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_]*")
STRUCT = re.compile(r"struct (\w+) \{ (.*?) \};")
BINDING = re.compile(r"@group\((\d+)\) @binding\((\d+)\) var<([\w, ]+)> (\w+): ([^;]+);")
SUBGROUP_WORDS = re.compile(
    r"\b(subgroup[A-Z]\w*|quad(Broadcast|Swap\w+))\s*\(|@builtin\(\s*(subgroup_\w+|num_subgroups)"
)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that publish makes of the sources."""
    folder = tmp_path_factory.mktemp("scan")

    def none(*_: object, **__: object) -> None:
        raise NoAdapterError("none here")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "open_engine", none)
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        source = data_folder("templates") / OP_ID
        for command in (["render", source, "--root", folder], ["publish", folder, "--out", folder / "dist"]):
            result = CliRunner().invoke(main, [str(part) for part in command])
            assert result.exit_code == 0, result.output
    return folder / "dist" / OP_ID


@pytest.fixture(scope="module")
def root(dist: Path) -> Path:
    return dist / "build" / "webgpu"


@pytest.fixture(scope="module")
def metadata(root) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((root / "metadata.json").read_text())
    return content


@pytest.fixture(scope="module")
def manifest(root) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((root / "manifest.json").read_text())
    return content


@pytest.fixture(scope="module")
def passes(dist) -> list[tuple[str, PassPlan]]:
    """Variant and pass of every distinct text that a test case comes to on some profile."""
    package = open_folder(dist)
    planner = Planner(package=package)
    found: dict[str, tuple[str, PassPlan]] = {}
    for case in read_tests((dist / "build/webgpu/test.json").read_text(), "test.json").cases:
        for device in profiles().values():
            plan = planner.prepare(case_request(case, package.manifest), device).plan
            found |= {item.wgsl: (plan.variant, item) for item in plan.passes}
    assert len({variant for variant, _ in found.values()}) > 2
    return list(found.values())


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", re.sub(r"//[^\n]*", "", text), flags=re.DOTALL)


def test_every_file_is_readable_text_without_a_byte_order_mark(root):
    for path in root.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert data.decode("utf-8").encode() == data
            assert not data.startswith(b"\xef\xbb\xbf")
            assert b"\r" not in data


def test_metadata_has_what_is_read_of_it(metadata):
    assert metadata["backend"]["type"] == "webgpu"
    assert metadata["webgpu"]["manifestSpec"] == "2.1"
    assert metadata["digest"]["algorithm"] == "sha256"


def test_every_path_that_has_a_digest_is_a_plain_one(metadata):
    for path in metadata["digest"]["files"]:
        assert PATH.fullmatch(path) and ".." not in path
        assert not {"constructor", "toString", "valueOf", "__proto__"} & set(path.split("/"))


def test_every_file_has_its_digest(root, metadata):
    listed = metadata["digest"]["files"]
    there = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert set(listed) == there - {"metadata.json"}
    for path, digest in listed.items():
        assert digest == base64.b64encode(hashlib.sha256((root / path).read_bytes()).digest()).decode()
    assert listed == dict(Digest.hash_variant(DigestAlgorithm.SHA256, str(root)).files)


def test_the_names_of_package_kernel_and_repository_agree(dist, metadata, manifest):
    op_id = f"{manifest.get('domain', 'ai.onnx')}.{manifest['name']}"
    assert metadata["name"] == op_id == dist.name
    assert re.fullmatch(r"[A-Za-z0-9._-]+", op_id)


def test_every_variant_lists_its_shaders_and_what_they_include(root, metadata, manifest):
    listed = metadata["webgpu"]["variants"]
    assert set(listed) == {variant["id"] for variant in manifest["variants"]}
    for variant in manifest["variants"]:
        files = listed[variant["id"]]
        assert STABLE_ID.fullmatch(variant["id"]) and files
        assert {item["shader"] for item in variant["passes"]} <= set(files)
        for file in files:
            assert file in metadata["digest"]["files"] and file.endswith((".wgsl", ".wgsl.jinja"))
            included = re.findall(r"""\{%\s*include\s+["'](.+?)["']""", (root / file).read_text())
            assert set(included) <= set(files)


def test_nothing_in_a_template_leads_out_of_the_package(root):
    assert not [path for path in root.rglob("*.jinja") if "_shared" in path.read_text()]


def test_what_must_not_be_published_is_not(dist):
    assert not [path for path in dist.rglob("*") if path.suffix == ".py" or path.name.startswith(("_", "."))]


def test_the_declarations_are_those_of_the_bindings(passes):
    for _, item in passes:
        declared = BINDING.findall(without_comments(item.wgsl))
        assert [(int(group), int(index)) for group, index, *_ in declared] == [
            (0, i) for i in range(len(item.bindings))
        ]
        spaces = {"read": "storage, read", "read_write": "storage, read_write", "uniform": "uniform"}
        assert [(space, name) for _, _, space, name, _ in declared] == [
            (spaces[binding.access], binding.name) for binding in item.bindings
        ]
        assert len({binding.name for binding in item.bindings}) == len(item.bindings)


def test_no_reference_is_left_and_every_element_type_is_one_of_wgsl(passes):
    for _, item in passes:
        for *_, space, _, kind in BINDING.findall(without_comments(item.wgsl)):
            if space != "uniform":
                assert re.fullmatch(r"array<(vec[234]<)?(f32|f16|i32|u32|atomic<[iu]32>)>?(, \d+u)?>", kind), kind


def test_words_that_need_a_feature_have_their_directive_at_the_top(passes):
    for _, item in passes:
        code = without_comments(item.wgsl)
        if re.search(r"\bf16\b", re.sub(r"enable [^;]*;", "", code)):
            assert item.wgsl.startswith("enable f16;\n")
        if SUBGROUP_WORDS.search(code):
            assert re.search(r"^enable subgroups;$", item.wgsl, re.MULTILINE)
        first = re.search(r"^(?!enable )\S", code, re.MULTILINE)
        assert first is not None and "enable " not in code[first.start() :]


def test_every_module_has_its_entry_point(passes):
    for _, item in passes:
        assert len(re.findall(r"@compute\s+@workgroup_size\([^)]*\)\s*fn main\(", without_comments(item.wgsl))) == 1


def test_uniforms_are_padded_to_whole_rows_and_filled_as_declared(passes):
    for _, item in passes:
        structs = dict(STRUCT.findall(without_comments(item.wgsl)))
        kinds = {name: kind for *_, name, kind in BINDING.findall(without_comments(item.wgsl))}
        for binding in item.bindings:
            if binding.access != "uniform":
                continue
            fields = [field.split(": ") for field in structs[kinds[binding.name]].split(", ")]
            assert len(fields) % 4 == 0
            assert len(binding.data) == binding.size == 4 * len(fields)
            padding = [index for index, (name, _) in enumerate(fields) if re.fullmatch(r"_pad\d+", name)]
            assert padding == list(range(len(fields)))[len(fields) - len(padding) :] and len(padding) < 4
            words = struct.unpack(f"<{len(fields)}I", binding.data)
            assert all(words[index] == 0 and fields[index][1] == "u32" for index in padding)
            assert {kind for _, kind in fields} <= {"u32", "i32", "f32"}


def test_the_rendered_texts_are_those_of_the_cases(root, passes):
    there = {path.read_text() for path in (root / "rendered").rglob("*.wgsl")}
    assert {item.wgsl for _, item in passes} <= there
