"""A trained model as an ONNX file: standardisation inside, weights as 8-bit integers."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from net import CLIP, Model, rounding
from rows import OFFSET

OPSET = 17


def write(path: Path, model: Model, names: list[str], schema_version: int):
    """Input "features" [N, d], output "answer" [N, 2]: ln(efficiency), which is minus the predicted ln of time
    over the reference, minus ln of the reference over the ideal time, which is a feature; and ln of the
    error that rows like this one have on average."""
    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def small(name, value):
        whole, scale = (np.asarray(part) for part in rounding(value))
        nodes.append(helper.make_node("Cast", [constant(f"{name}_i8", whole.astype(np.int8))], [f"{name}_f32"], to=TensorProto.FLOAT))
        nodes.append(helper.make_node("Mul", [f"{name}_f32", constant(f"{name}_scale", short(scale))], [name]))
        return name

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    value = node("Mul", ["features", constant("scale", model.scale[None, :])], "scaled")
    value = node("Add", [value, constant("shift", model.shift[None, :])], "standard")
    limits = [constant("least", np.float32(-CLIP)), constant("most", np.float32(CLIP))]
    value = node("Clip", [value, *limits], "clipped")
    for i, (weights, bias) in enumerate(model.layers):
        value = node("MatMul", [value, small(f"weights_{i}", weights)], f"product_{i}")
        value = node("Add", [value, constant(f"bias_{i}", short(bias[None, :]))], f"sum_{i}")
        if i < len(model.layers) - 1:
            gate = node("Sigmoid", [value], f"gate_{i}")
            value = node("Mul", [value, gate], f"hidden_{i}")
    select = np.zeros((len(names), 2), np.float32)
    select[names.index(OFFSET), 0] = 1.0
    offset = node("MatMul", ["features", constant("select_offset", select)], "offset")
    total = node("Add", [value, offset], "ln_time_over_ideal")
    node("Mul", [total, constant("signs", np.float32([[-1.0, 1.0]]))], "answer")
    graph = helper.make_graph(
        nodes,
        "efficiency",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", len(names)])],
        [helper.make_tensor_value_info("answer", TensorProto.FLOAT, ["N", 2])],
        constants,
    )
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    helper.set_model_props(file, {"schema_version": str(schema_version)})
    onnx.checker.check_model(file)
    path.write_bytes(file.SerializeToString())


def short(value: np.ndarray) -> np.ndarray:
    """Rounded to 16 significant bits, which compress better (8 kB of all files) and move ln(efficiency) by less than 1e-4. The
    standardisation of features stays exact: some are large."""
    bits = value.astype(np.float32).view(np.uint32)
    return ((bits + np.uint32(0x80)) & np.uint32(0xFFFFFF00)).view(np.float32)


def run(path: Path, features: np.ndarray) -> np.ndarray:
    """The file's own answers [N, 2], by onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["answer"], {"features": features.astype(np.float32)})[0]
