"""Models are matched to migration cases by what they are made of, from names and from ONNX files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opprof_db.errors import InputError, UsageError
from opprof_db.knowledge.library import only_built_in
from opprof_db.knowledge.models import Model, from_names, from_onnx
from opprof_db.knowledge.similarity import advice, distance, nearest_cases
from tests.conftest import Cli

onnx = pytest.importorskip("onnx")
ENTRIES = only_built_in().entries


def onnx_file(path: Path, nodes: list, functions: list = [], opset: str = "") -> Path:  # noqa: B006
    graph = onnx.helper.make_graph(nodes, "g", [], [])
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ours", 1)]
    onnx.save(onnx.helper.make_model(graph, functions=functions, opset_imports=opsets), str(path))
    return path


def node(op_type: str, inputs: str = "a", outputs: str = "b", **attributes: object):
    return onnx.helper.make_node(op_type, inputs.split(), outputs.split(), **attributes)


def silu(number: int) -> list:
    return [node("Sigmoid", f"x{number}", f"s{number}"), node("Mul", f"x{number} s{number}", f"y{number}")]


def detector(path: Path) -> Path:
    """As a detector with a pyramid of features is exported, smaller than any case."""
    nodes = [node("Conv") for _ in range(30)] + [one for at in range(27) for one in silu(at)]
    nodes += [node("Concat") for _ in range(10)] + [node("Add") for _ in range(4)] + [node("MaxPool")] * 3
    nodes += [node("Resize")] * 2 + [node("Softmax"), node("NonMaxSuppression")] + [node("Reshape")] * 9
    return onnx_file(path, nodes)


def classifier(path: Path) -> Path:
    nodes = [node("Conv")] * 20 + [node("Relu")] * 17 + [node("Add")] * 8
    return onnx_file(path, [*nodes, node("MaxPool"), node("GlobalAveragePool"), node("Flatten"), node("Gemm")])


def segmenter(path: Path) -> Path:
    nodes = [node("Conv")] * 23 + [node("Relu")] * 22 + [node("MaxPool")] * 5
    return onnx_file(path, [*nodes, *[node("Resize")] * 5, *[node("Concat")] * 5, *[node("Pad")] * 5])


@pytest.mark.parametrize(
    ("make", "case"), [(detector, "case-yolov8s"), (classifier, "case-resnet50"), (segmenter, "case-unet")]
)
def test_exported_models_find_the_case_of_their_kind_first(tmp_path: Path, make, case: str) -> None:
    found = nearest_cases(from_onnx(make(tmp_path / "model.onnx")), ENTRIES.values())
    assert found[0].entry == case
    assert found[0].distance < 0.2 < found[1].distance
    assert [each.distance for each in found] == sorted(each.distance for each in found)


@pytest.mark.parametrize(
    ("names", "case"),
    [("conv2d,nms", "case-yolov8s"), ("Conv2D,BatchNorm,relu,add,pooling,matmul", "case-resnet50"),
     ("conv2d:18,relu:18,maxpool:4,upsample:4,concat:4,pad:4", "case-unet")],
)  # fmt: skip
def test_names_find_it_too(names: str, case: str) -> None:
    assert nearest_cases(from_names(names), ENTRIES.values())[0].entry == case


def test_a_case_is_no_distance_from_itself() -> None:
    for name in ("case-yolov8s", "case-unet", "case-resnet50"):
        built = ENTRIES[name].head.architecture
        assert built is not None
        (first, *_) = nearest_cases(Model(name, built.operators, {}, counted=True), ENTRIES.values())
        assert (first.entry, first.distance) == (name, pytest.approx(0, abs=1e-7))
        assert first.only_model == first.only_case == ()


def test_the_distance_is_hellingers() -> None:
    assert distance({"a": 1}, {"a": 7}) == pytest.approx(0)
    assert distance({"a": 1}, {"b": 1}) == 1
    assert distance({}, {"b": 1}) == 1
    assert distance({"a": 1, "b": 1}, {"a": 1}) == pytest.approx((1 - 0.5**0.5) ** 0.5)
    assert distance({"a": 3, "b": 1}, {"a": 1, "b": 3}) == distance({"a": 1, "b": 3}, {"a": 3, "b": 1})


def test_a_sigmoid_with_its_product_is_one_activation_and_others_are_not(tmp_path: Path) -> None:
    nodes = [*silu(1), node("Sigmoid", "x2", "s2"), node("Mul", "z s2", "y2"), node("Mul", "s1 s2", "y3")]
    assert from_onnx(onnx_file(tmp_path / "m.onnx", nodes)).operators == {"activation": 2, "elementwise": 2}


def test_bodies_and_functions_count_as_what_they_hold(tmp_path: Path) -> None:
    body = onnx.helper.make_graph([node("Conv"), node("NonMaxSuppression")], "body", [], [])
    function = onnx.helper.make_function(
        "ours", "Block", ["a"], ["b"], [node("MatMul"), node("Softmax", "b", "c")], [onnx.helper.make_opsetid("", 17)]
    )
    nodes = [
        node("If", then_branch=body, else_branch=body),
        node("Block", domain="ours"),
        node("Block", domain="ours"),
        node("MyRmsNorm", domain="theirs"),
        node("Quux", domain="theirs"),
    ]
    model = from_onnx(onnx_file(tmp_path / "m.onnx", nodes, [function]))
    assert model.operators == {"conv2d": 2, "nms": 2, "matmul": 2, "softmax": 2, "layernorm": 1}
    assert model.unknown == {"Quux": 1}


def test_unknown_operators_make_a_model_less_alike() -> None:
    plain = Model("m", {"conv2d": 10, "nms": 1}, {}, counted=True)
    odd = Model("m", {"conv2d": 10, "nms": 1}, {"Quux": 10}, counted=True)
    for one, other in zip(nearest_cases(plain, ENTRIES.values()), nearest_cases(odd, ENTRIES.values()), strict=True):
        assert one.distance < other.distance


def test_kinds_that_are_often_off_the_ai_core_come_first_with_their_recipes() -> None:
    found = advice(from_names("conv2d:64,nms:1,relu:3"), ENTRIES.values())
    assert [each.kind for each in found] == ["nms", "conv2d", "activation"]
    assert found[0].hard
    assert found[0].entries[0] == "recipe-nms"
    assert "pattern-cpu-fallback" in found[0].entries


@pytest.mark.parametrize("text", ["", ",", "conv2d:0", "conv2d:x", "conv2d:-1", "frobnicate", "conv2d:" + "9" * 30])
def test_names_that_mean_nothing_are_told(text: str) -> None:
    with pytest.raises(UsageError):
        from_names(text)


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 50, b"no model at all", b"\x08\x07"])
def test_files_that_are_no_model_are_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"model\.onnx"):
        from_onnx(path)
    with pytest.raises(InputError):
        from_onnx(tmp_path)
    with pytest.raises(InputError):
        from_onnx(tmp_path / "nowhere.onnx")


def test_the_command_matches_models_without_a_warehouse(cli: Cli, tmp_path: Path) -> None:
    shown = cli("recommend", "--model", detector(tmp_path / "detector.onnx"))
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[1].startswith("case-yolov8s ")
    answer = json.loads(cli("recommend", "--operators", "conv2d,nms", "-f", "json", "--limit", 1).stdout)
    assert [each["entry"] for each in answer["cases"]] == ["case-yolov8s"]
    assert answer["operators"][0]["kind"] == "nms"
    for wrong in (("--operators", "frobnicate"), (), ("last", "--operators", "nms")):
        said = cli("recommend", *wrong)
        assert (said.returncode, said.stdout) == (2, "")
    assert cli("recommend", "--model", tmp_path / "nowhere.onnx").returncode == 3
