"""A model as what it is made of: how many operators of each kind, from names or from an ONNX file.

Weights are never read. Bodies of conditions and loops count once, as they are written; functions of the model count as
the operators they hold. ``Mul(x, Sigmoid(x))`` is one activation (SiLU), not two operators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opprof_db.errors import InputError, UsageError
from opprof_db.knowledge.naming import operator_kind
from opprof_db.knowledge.operators import kind_of_onnx, kinds

FOLDED = frozenset({"batchnorm"})
"""Left out of comparisons: exporters and graph compilers fold it into the convolution before it."""
_DEEPEST = 50
MOST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Model:
    """What a model is made of."""

    name: str
    operators: Mapping[str, int]
    """Kind of operator -> how many; those that move no data by themselves are left out."""
    unknown: Mapping[str, int]
    """Operator types that no kind is known for."""
    counted: bool
    """Whether the numbers mean something; ``False``: only names were given."""


def from_names(text: str) -> Model:
    """``conv2d,nms`` or ``conv2d:64,nms:1``: kinds or names of operators, with how many of them.

    Raises:
        UsageError: a name that means no kind of operator, or a count that is none.
    """
    found: Counter[str] = Counter()
    counted = False
    for part in (each.strip() for each in text.split(",")):
        if not part:
            continue
        name, colon, count = part.partition(":")
        if colon and not (count.isdecimal() and count.isascii() and 0 < len(count) < 10 and int(count)):
            raise UsageError(f"{part!r}: {count!r} is no number of operators", "write conv2d:64,nms:1, or only names")
        counted = counted or bool(colon)
        found[operator_kind(name.strip())] += int(count) if colon else 1
    if not found:
        raise UsageError("no operator is named", "write conv2d,nms or conv2d:64,nms:1")
    return Model(text, _comparable(found), {}, counted)


def from_onnx(path: Path) -> Model:
    """The operators of an ONNX file.

    Raises:
        UsageError: the extra ``onnx`` is not installed.
        InputError: no such file, or no ONNX model with operators.
    """
    try:
        import onnx
    except ImportError as error:
        raise UsageError(
            "--model needs the package onnx", "pip install 'opprof-db[onnx]', or use --operators"
        ) from error
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load_model(str(path), load_external_data=False)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}", "give an ONNX file") from error
    except (DecodeError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{path}: no ONNX model ({' '.join(str(error).split())[:200]})", "export it again") from error
    functions = {(each.domain, each.name): each for each in model.functions}
    found: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for op_type in _operators(model.graph.node, functions, 0):
        kind = kind_of_onnx(op_type)
        if kind is None:
            unknown[op_type] += 1
        else:
            found[kind] += 1
    if not found and not unknown:
        raise InputError(f"{path}: holds no operator", "is it an ONNX model?")
    return Model(path.name, _comparable(found), dict(sorted(unknown.items())), counted=True)


def _operators(nodes: Any, functions: Mapping[tuple[str, str], Any], depth: int) -> Iterator[str]:
    """Types of all nodes, of bodies and functions too."""
    if depth > _DEEPEST:
        return
    gates = {
        node.output[0]: node.input[0] for node in nodes if node.op_type == "Sigmoid" and node.input and node.output
    }
    for node in nodes:
        body = functions.get((node.domain, node.op_type))
        if body is not None:
            yield from _operators(body.node, functions, depth + 1)
            continue
        inner = [graph for each in node.attribute for graph in ([each.g] if each.HasField("g") else each.graphs)]
        for graph in inner:
            yield from _operators(graph.node, functions, depth + 1)
        # If, Loop and Scan are made of their bodies.
        if not inner and not _is_silu(node, gates):
            yield node.op_type


def _is_silu(node: Any, gates: Mapping[str, str]) -> bool:
    """Whether it is the product of a Sigmoid with its own input, which counts with the Sigmoid."""
    if node.op_type != "Mul" or len(node.input) != 2:
        return False
    one, other = node.input
    return bool(gates.get(one) == other or gates.get(other) == one)


def _comparable(found: Mapping[str, int]) -> dict[str, int]:
    known = kinds()
    return {kind: count for kind, count in sorted(found.items()) if not known[kind].free}
