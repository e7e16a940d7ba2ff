"""Small ONNX graphs, made here, for tests: (name, model). Weights are random and in the graph."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


class Graph:
    """A graph while it is being built: `g.node("Relu", x)` adds a node and names its output."""

    def __init__(self, name, opset=17, domains=()):
        self.name, self.opset, self.domains = name, opset, domains
        self.random = np.random.default_rng(1)
        self.nodes, self.inputs, self.constants, self.functions = [], [], [], []

    def input(self, *shape, type=FLOAT):
        name = f"in{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, type, shape))
        return name

    def weight(self, *shape):
        return self.constant(self.random.uniform(-1, 1, shape).astype(np.float32))

    def positive(self, *shape):
        return self.constant(self.random.uniform(0.5, 1.5, shape).astype(np.float32))

    def constant(self, array):
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def shape(self, *numbers):
        return self.constant(np.array(numbers, dtype=np.int64))

    def node(self, type, *inputs, outputs=1, **attributes):
        names = [f"{type}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(type, inputs, names, name=f"n{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def model(self, *outputs):
        graph = helper.make_graph(self.nodes, self.name, self.inputs,
                                  [helper.make_tensor_value_info(o, FLOAT, None) for o in outputs],
                                  self.constants)
        sets = [helper.make_opsetid("", self.opset)] + [helper.make_opsetid(d, 1) for d in self.domains]
        model = helper.make_model(graph, opset_imports=sets)
        model.ir_version = 8
        return self.name, model


def convolutions():
    cases = {
        "plain": ((1, 3, 8, 7), (4, 3, 3, 3), {}),
        "strided": ((2, 3, 9, 9), (4, 3, 3, 3), dict(strides=[2, 2], pads=[1, 1, 1, 1])),
        "lopsided": ((1, 2, 7, 6), (3, 2, 3, 2), dict(pads=[0, 1, 2, 0])),
        "dilated": ((1, 2, 9, 9), (3, 2, 3, 3), dict(dilations=[2, 2], pads=[2, 2, 2, 2])),
        "grouped": ((1, 6, 6, 6), (4, 3, 3, 3), dict(group=2)),
        "depthwise": ((1, 4, 6, 6), (4, 1, 3, 3), dict(group=4, pads=[1, 1, 1, 1])),
        "same": ((1, 2, 7, 7), (3, 2, 4, 4), dict(auto_pad="SAME_UPPER", strides=[2, 2])),
        "line": ((1, 3, 10), (4, 3, 3), dict(strides=[2])),
        "volume": ((1, 2, 4, 5, 4), (3, 2, 2, 2, 2), {}),
    }
    for name, (x, w, attributes) in cases.items():
        g = Graph(f"conv_{name}")
        y = g.node("Conv", g.input(*x), g.weight(*w), g.weight(w[0]), **attributes)
        yield g.model(y)
    g = Graph("conv_transpose")
    x = g.input(1, 3, 4, 5)
    a = g.node("ConvTranspose", x, g.weight(3, 2, 3, 3), g.weight(2), strides=[2, 2], pads=[1, 1, 1, 1],
               output_padding=[1, 1])
    yield g.model(a)
    for name, attributes in {"larger": dict(output_shape=[12]), "same": dict(auto_pad="SAME_UPPER")}.items():
        g = Graph(f"conv_transpose_{name}")
        yield g.model(g.node("ConvTranspose", g.input(1, 2, 5), g.weight(2, 3, 3), strides=[2], **attributes))
    g = Graph("conv_of_conv")
    x = g.node("Relu", g.node("Conv", g.input(1, 3, 8, 8), g.weight(4, 3, 3, 3), pads=[1, 1, 1, 1]))
    yield g.model(g.node("Conv", x, g.weight(2, 4, 1, 1)))


def pools():
    for name, attributes in {
        "max": dict(kernel_shape=[2, 2], strides=[2, 2]),
        "max_bordered": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        "max_up": dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    }.items():
        g = Graph(f"pool_{name}")
        yield g.model(g.node("MaxPool", g.input(1, 2, 7, 7), **attributes))
    for name, attributes in {
        "average": dict(kernel_shape=[2, 2], strides=[2, 2]),
        "average_bordered": dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        "average_padded": dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
    }.items():
        g = Graph(f"pool_{name}")
        yield g.model(g.node("AveragePool", g.input(1, 2, 6, 6), **attributes))
    g = Graph("pool_average_dilated", opset=19)
    yield g.model(g.node("AveragePool", g.input(1, 2, 7, 7), kernel_shape=[3, 3], dilations=[2, 2], pads=[1, 2, 2, 2]))
    g = Graph("pool_average_same_dilated", opset=19)
    yield g.model(g.node("AveragePool", g.input(1, 2, 7, 6), kernel_shape=[3, 2], dilations=[2, 3], auto_pad="SAME_LOWER"))
    g = Graph("pool_global")
    x = g.input(2, 3, 4, 5)
    yield g.model(g.node("GlobalAveragePool", x), g.node("GlobalMaxPool", x))


def products():
    g = Graph("gemm")
    yield g.model(g.node("Gemm", g.input(3, 4), g.weight(5, 4), g.weight(5), transB=1, alpha=0.5, beta=2.0))
    for name, a, b in [("matrices", (3, 4), (4, 5)), ("batches", (2, 3, 4), (2, 4, 5)),
                       ("broadcast", (2, 1, 3, 4), (3, 4, 5)), ("vector", (3, 4), (4,)), ("row", (4,), (4, 5))]:
        g = Graph(f"matmul_{name}")
        yield g.model(g.node("MatMul", g.input(*a), g.input(*b)))
    g = Graph("einsum")
    yield g.model(g.node("Einsum", g.input(2, 3, 4), g.input(2, 4, 5), equation="bij,bjk->bki"))


def elementwise():
    for type in ["Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Abs", "Neg", "Softplus", "Softsign", "Elu", "Selu",
                 "Celu", "LeakyRelu", "HardSigmoid", "HardSwish", "ThresholdedRelu", "Floor", "Ceil", "Round",
                 "Sign", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Asinh", "Atanh", "Identity", "Mish"]:
        g = Graph(f"function_{type.lower()}", opset=18)
        yield g.model(g.node("Mul", g.node(type, g.input(3, 4)), g.constant(np.float32(1.5))))
    for type in ["Log", "Sqrt", "Reciprocal"]:
        g = Graph(f"function_{type.lower()}")
        yield g.model(g.node(type, g.node("Add", g.node("Abs", g.input(3, 4)), g.positive(1))))
    for type in ["Add", "Sub", "Mul", "Max", "Min"]:
        g = Graph(f"pair_{type.lower()}")
        yield g.model(g.node(type, g.input(2, 3, 4), g.input(3, 1)))
    g = Graph("clip")
    yield g.model(g.node("Clip", g.input(3, 4), g.constant(np.float32(-0.3)), g.constant(np.float32(0.4))))
    g = Graph("where")
    a, b = g.input(3, 4), g.input(3, 4)
    yield g.model(g.node("Where", g.node("Greater", a, b), a, g.node("Mul", b, b)))
    g = Graph("where_masked")
    mask, infinite = g.constant(np.tril(np.ones((4, 4), bool))), g.constant(np.float32(-np.inf))
    yield g.model(g.node("Softmax", g.node("Where", mask, g.input(2, 4, 4), infinite), axis=-1))
    g = Graph("pow")
    x = g.node("Abs", g.input(3, 4))
    yield g.model(g.node("Pow", x, g.constant(np.float32(2.0))), g.node("Pow", x, g.constant(np.float32(1.5))))
    g = Graph("prelu")
    yield g.model(g.node("PRelu", g.input(1, 3, 4), g.weight(3, 1)))


def norms():
    for axis in [-1, 1]:
        g = Graph(f"softmax_{axis % 3}", opset=13)
        yield g.model(g.node("Softmax", g.input(2, 3, 4), axis=axis))
    g = Graph("log_softmax", opset=13)
    yield g.model(g.node("LogSoftmax", g.input(2, 5), axis=-1))
    g = Graph("layer_norm")
    yield g.model(g.node("LayerNormalization", g.input(2, 3, 8), g.weight(8), g.weight(8), axis=-1))
    g = Graph("instance_norm")
    yield g.model(g.node("InstanceNormalization", g.input(2, 3, 4, 4), g.weight(3), g.weight(3)))
    g = Graph("batch_norm")
    yield g.model(g.node("BatchNormalization", g.input(2, 3, 4, 4), g.weight(3), g.weight(3), g.weight(3),
                         g.positive(3)))
    g = Graph("lrn")
    yield g.model(g.node("LRN", g.input(4, 4, 3, 3), size=3, alpha=0.01, beta=0.75, bias=1.0))
    g = Graph("rms_norm_of_parts")
    x = g.input(2, 3, 8)
    mean = g.node("ReduceMean", g.node("Pow", x, g.constant(np.float32(2))), axes=[-1], keepdims=1)
    root = g.node("Sqrt", g.node("Add", mean, g.constant(np.float32(1e-5))))
    yield g.model(g.node("Mul", g.node("Div", x, root), g.weight(8)))
    g = Graph("gelu_of_parts")
    x = g.input(3, 4)
    erf = g.node("Erf", g.node("Div", x, g.constant(np.float32(np.sqrt(2)))))
    half = g.node("Mul", x, g.node("Add", erf, g.constant(np.float32(1))))
    yield g.model(g.node("Mul", half, g.constant(np.float32(0.5))))
    for type in ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare",
                 "ReduceLogSumExp", "ReduceProd"]:
        g = Graph(type.lower(), opset=11)
        yield g.model(g.node(type, g.input(2, 3, 4), axes=[1], keepdims=0))


def layouts():
    g = Graph("flatten_and_multiply")
    x = g.node("Relu", g.node("Conv", g.input(2, 3, 5, 5), g.weight(4, 3, 2, 2)))
    yield g.model(g.node("Gemm", g.node("Flatten", x), g.weight(64, 6), g.weight(6)))
    g = Graph("channels_last")
    x = g.node("Transpose", g.input(1, 5, 5, 3), perm=[0, 3, 1, 2])
    yield g.model(g.node("Relu", g.node("Transpose", g.node("Conv", x, g.weight(4, 3, 3, 3)), perm=[0, 2, 3, 1])))
    g = Graph("heads")
    x = g.input(2, 5, 12)
    q, k, v = (g.node("Transpose", g.node("Reshape", g.node("MatMul", x, g.weight(12, 12)), g.shape(2, 5, 3, 4)),
                      perm=p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    scores = g.node("Softmax", g.node("Mul", g.node("MatMul", q, k), g.constant(np.float32(0.5))), axis=-1)
    joined = g.node("Reshape", g.node("Transpose", g.node("MatMul", scores, v), perm=[0, 2, 1, 3]),
                    g.shape(0, 0, 12))
    yield g.model(g.node("Add", g.node("MatMul", joined, g.weight(12, 12)), x))
    g = Graph("concat")
    x = g.input(1, 3, 4, 4)
    a, b = (g.node("Relu", g.node("Conv", x, g.weight(n, 3, 1, 1))) for n in (2, 3))
    yield g.model(g.node("Conv", g.node("Concat", a, b, axis=1), g.weight(2, 5, 1, 1)))
    g = Graph("concat_of_what_others_read")
    x = g.node("Relu", g.input(2, 3))
    y = g.node("MatMul", x, g.weight(3, 4))
    yield g.model(g.node("Exp", g.node("Concat", x, y, axis=1)))
    g = Graph("split_and_slice")
    a, b = g.node("Split", g.input(3, 8), g.shape(3, 5), outputs=2, axis=1)
    c = g.node("Slice", b, g.shape(1), g.shape(4), g.shape(1))
    yield g.model(g.node("Add", a, c))
    g = Graph("steps")
    yield g.model(g.node("Neg", g.node("Slice", g.input(3, 9), g.shape(1), g.shape(9), g.shape(1), g.shape(3))))
    g = Graph("pad")
    yield g.model(g.node("Exp", g.node("Pad", g.input(2, 3), g.shape(1, 0, 0, 2), g.constant(np.float32(0.5)))))
    g = Graph("pad_on_both_sides")
    yield g.model(g.node("Exp", g.node("Pad", g.input(2, 3), g.shape(1, 2, 1, 1))))
    g = Graph("shuffled_channels")
    x = g.node("Conv", g.input(1, 4, 3, 3), g.weight(6, 2, 1, 1), group=2)
    x = g.node("Transpose", g.node("Reshape", x, g.shape(1, 2, 3, 3, 3)), perm=[0, 2, 1, 3, 4])
    yield g.model(g.node("Conv", g.node("Reshape", x, g.shape(1, 6, 3, 3)), g.weight(4, 3, 1, 1), group=2))
    g = Graph("reshape_across")
    yield g.model(g.node("Exp", g.node("Transpose", g.node("Reshape", g.node("Transpose", g.input(4, 9), perm=[1, 0]),
                                                           g.shape(6, 6)), perm=[1, 0])))
    g = Graph("shape_arithmetic")
    x = g.input(2, 3, 4)
    n = g.node("Gather", g.node("Shape", x), g.constant(np.int64(0)), axis=0)
    shape = g.node("Concat", g.node("Unsqueeze", n, g.shape(0)), g.shape(-1), axis=0)
    yield g.model(g.node("Exp", g.node("Reshape", x, shape)))
    g = Graph("depth_to_space")
    yield g.model(g.node("Exp", g.node("DepthToSpace", g.input(1, 8, 2, 3), blocksize=2)))
    g = Graph("resize")
    yield g.model(g.node("Exp", g.node("Resize", g.input(1, 2, 3, 3), "", g.constant(np.float32([1, 1, 2, 2])),
                                       mode="nearest", nearest_mode="floor",
                                       coordinate_transformation_mode="asymmetric")))
    g = Graph("expand_and_tile")
    x = g.node("Expand", g.input(3, 1), g.shape(2, 3, 4))
    yield g.model(g.node("Exp", g.node("Tile", x, g.shape(1, 2, 1))))


def quantised():
    uint8, int8 = np.uint8, np.int8
    g = Graph("quantise", opset=19)
    y = g.node("QuantizeLinear", g.input(3, 4), g.constant(np.float32(0.05)), g.constant(uint8(128)))
    yield g.model(g.node("DequantizeLinear", y, g.constant(np.float32(0.05)), g.constant(uint8(128))))
    g = Graph("qlinear_conv", opset=19)
    s, z = g.constant(np.float32(0.02)), g.constant(uint8(120))
    x = g.node("QuantizeLinear", g.input(1, 3, 5, 5), s, z)
    w = g.constant(g.random.integers(-100, 100, (4, 3, 3, 3)).astype(int8))
    y = g.node("QLinearConv", x, s, z, w, g.constant(np.float32(0.01)), g.constant(int8(0)),
               g.constant(np.float32(0.07)), g.constant(uint8(90)), g.constant(np.arange(4, dtype=np.int32) * 500),
               pads=[1, 1, 1, 1])
    yield g.model(g.node("DequantizeLinear", y, g.constant(np.float32(0.07)), g.constant(uint8(90))))
    g = Graph("matmul_integer", opset=19)
    a = g.node("QuantizeLinear", g.input(3, 4), s := g.constant(np.float32(0.02)), z := g.constant(uint8(100)))
    b = g.constant(g.random.integers(0, 255, (4, 5)).astype(uint8))
    y = g.node("MatMulInteger", a, b, z, g.constant(uint8(7)))
    yield g.model(g.node("Mul", g.node("Cast", y, to=FLOAT), g.constant(np.float32(0.01))))


def newer():
    """Operators of opsets that Debian's library does not know."""
    g = Graph("attention_4d", opset=23)
    yield g.model(g.node("Attention", g.input(1, 4, 5, 8), g.input(1, 2, 6, 8), g.input(1, 2, 6, 8)))
    g = Graph("attention_3d", opset=23)
    y = g.node("Attention", g.input(2, 5, 12), g.input(2, 6, 12), g.input(2, 6, 12), g.input(5, 6),
               q_num_heads=3, kv_num_heads=3)
    yield g.model(g.node("MatMul", y, g.weight(12, 4)))
    for name, more in {"softcap": dict(softcap=0.5), "softcap_scaled": dict(softcap=2.0, scale=0.7)}.items():
        g = Graph(f"attention_{name}", opset=23)
        y = g.node("Attention", g.input(2, 3, 16), g.input(2, 5, 8), g.input(2, 5, 8), g.input(3, 5), q_num_heads=4,
                   kv_num_heads=2, **more)
        yield g.model(g.node("Neg", y))
    g = Graph("attention_of_one_tensor_behind_earlier_steps", opset=23)
    x = g.node("Relu", g.input(1, 2, 3, 4))
    y, _, _ = g.node("Attention", x, x, x, "", g.input(1, 2, 2, 4), g.input(1, 2, 2, 4), outputs=3)
    yield g.model(g.node("Neg", y))
    g = Graph("rotary_embedding", opset=23)
    yield g.model(g.node("RotaryEmbedding", g.input(2, 3, 4, 8), g.weight(2, 4, 4), g.weight(2, 4, 4)))
    g = Graph("rotary_embedding_interleaved", opset=23)
    yield g.model(g.node("RotaryEmbedding", g.input(1, 3, 4, 8), g.weight(1, 4, 4), g.weight(1, 4, 4), interleaved=1))
    g = Graph("rms_norm", opset=23)
    yield g.model(g.node("RMSNormalization", g.input(2, 3, 8), g.weight(8)))
    g = Graph("group_norm", opset=21)
    yield g.model(g.node("GroupNormalization", g.input(2, 6, 3, 3), g.weight(6), g.weight(6), num_groups=3))
    for approximate in ("none", "tanh"):
        g = Graph(f"gelu_{approximate}", opset=20)
        yield g.model(g.node("Gelu", g.input(3, 4), approximate=approximate))
    g = Graph("swish", opset=24)
    yield g.model(g.node("Swish", g.input(3, 4)))
    g = Graph("reduce_with_axes_as_input", opset=18)
    yield g.model(g.node("ReduceMax", g.input(2, 3, 4), g.shape(1), keepdims=0))
    for name, axes in {"left_out": [], "empty": [()]}.items():
        g = Graph(f"reduce_nothing_axes_{name}", opset=18)
        x = g.node("Add", g.node("Abs", g.input(2, 3)), g.constant(np.float32(0.5)))
        yield g.model(*[g.node(f"Reduce{kind}", x, *[g.shape(*none) for none in axes], noop_with_empty_axes=1)
                        for kind in ("L1", "L2", "SumSquare", "LogSum", "LogSumExp", "Max", "Mean")])


def dequantised():
    """Pairs of QuantizeLinear and DequantizeLinear around operators: products of integers."""
    uint8, int8, int32 = np.uint8, np.int8, np.int32

    def constant(g, values, scale, zero, **attributes):
        return g.node("DequantizeLinear", g.constant(values), g.constant(np.asarray(scale, np.float32)),
                      g.constant(np.asarray(zero, values.dtype)), **attributes)

    def pair(g, x, scale, zero):
        parts = g.constant(np.float32(scale)), g.constant(uint8(zero))
        return g.node("DequantizeLinear", g.node("QuantizeLinear", x, *parts), *parts)

    g = Graph("qdq_conv", opset=19)
    scales = np.array([0.01, 0.02, 0.03, 0.015])
    w = constant(g, g.random.integers(-100, 100, (4, 3, 3, 3)).astype(int8), scales, [0, 0, 0, 0], axis=0)
    b = constant(g, g.random.integers(-900, 900, 4).astype(int32), scales * 0.02, [0, 0, 0, 0], axis=0)
    y = g.node("Relu", g.node("Conv", pair(g, g.input(1, 3, 8, 8), 0.02, 120), w, b, pads=[1, 1, 1, 1]))
    y = g.node("Flatten", g.node("MaxPool", pair(g, y, 0.05, 3), kernel_shape=[2, 2], strides=[2, 2]))
    yield g.model(g.node("MatMul", y, constant(g, g.random.integers(-90, 90, (64, 5)).astype(int8), 0.01, 4)))
    for name, axis, block, shape in [("rows", 0, 4, (8, 6)), ("columns", 1, 2, (8, 6)), ("short_last_block", 0, 3, (8, 6))]:
        g = Graph(f"blocks_of_{name}", opset=21)
        values = g.random.integers(-8, 8, shape).astype(int8)
        scales = [-(-s // block) if d == axis else s for d, s in enumerate(shape)]
        parts = g.positive(*scales), g.constant(g.random.integers(-3, 3, scales).astype(int8))
        w = g.node("DequantizeLinear", g.constant(values), *parts, axis=axis, block_size=block)
        yield g.model(g.node("MatMul", g.input(2, 8), w))
    g = Graph("blocks_of_activations", opset=21)
    x = g.node("QuantizeLinear", g.input(2, 8), g.positive(2, 2), g.constant(np.full((2, 2), 3, uint8)), axis=1, block_size=4)
    yield g.model(g.node("Mul", g.node("Cast", x, to=FLOAT), g.constant(np.float32(0.5))))
    g = Graph("qdq_gemm", opset=19)
    w = constant(g, g.random.integers(-100, 100, (5, 6)).astype(int8), np.full(5, 0.01), np.arange(5), axis=0)
    x = pair(g, g.input(3, 6), 0.03, 100)
    yield g.model(g.node("Add", g.node("Gemm", x, w, g.weight(5), transB=1), g.node("ReduceMean", x, keepdims=1)))
    g = Graph("qdq_residual", opset=19)
    x = pair(g, g.input(3, 6), 0.03, 100)
    yield g.model(pair(g, g.node("Add", x, g.node("Transpose", g.node("Transpose", x, perm=[1, 0]), perm=[1, 0])), 0.05, 90))


def borders():
    """Windows that have one place, over planes smaller than they are."""
    g = Graph("conv_of_one_place")
    yield g.model(g.node("Conv", g.input(1, 3, 2, 2), g.weight(4, 3, 3, 3), pads=[1, 1, 0, 0]))
    g = Graph("conv_of_one_value")
    x = g.node("Conv", g.input(1, 3, 1, 1), g.weight(4, 3, 3, 3), g.weight(4), pads=[1, 1, 1, 1])
    yield g.model(g.node("Relu", x))
    for name, x, w, attributes in [
            ("wide_border", (1, 3, 4, 4), (2, 3, 1, 1), dict(pads=[1, 1, 1, 1])),
            ("wider_border", (1, 2, 4, 4), (2, 2, 3, 3), dict(pads=[3, 3, 3, 3])),
            ("border_and_stride", (1, 3, 5, 5), (2, 3, 1, 1), dict(pads=[1, 1, 1, 1], strides=[2, 2])),
            ("steps_over_plane", (1, 2, 1, 5), (2, 2, 2, 1), dict(pads=[1, 0, 1, 0], dilations=[2, 1])),
            ("border_on_one_side", (1, 2, 4, 4), (2, 2, 2, 2), dict(pads=[0, 0, 3, 2]))]:
        for biases in (0, 1):
            g = Graph(f"conv_{name}{'_biased' if biases else ''}")
            y = g.node("Conv", g.input(*x), g.weight(*w), *[g.weight(w[0])] * biases, **attributes)
            yield g.model(y)
    g = Graph("pool_of_one_place")
    x = g.node("Relu", g.input(1, 2, 6, 6))
    yield g.model(g.node("AveragePool", x, kernel_shape=[7, 7], pads=[0, 0, 1, 1]))


def bodies():
    """Scan and Loop, whose bodies run a known number of times."""
    body = helper.make_graph(
        [helper.make_node("Add", ["state", "x"], ["sum"]), helper.make_node("Tanh", ["sum"], ["next"]),
         helper.make_node("Mul", ["next", "x"], ["y"])], "body",
        [helper.make_tensor_value_info(n, FLOAT, [4]) for n in ("state", "x")],
        [helper.make_tensor_value_info(n, FLOAT, [4]) for n in ("next", "y")])
    g = Graph("scan")
    state, rows = g.node("Scan", g.input(4), g.input(3, 4), outputs=2, body=body, num_scan_inputs=1)
    yield g.model(g.node("Add", rows, state))
    body = helper.make_graph(
        [helper.make_node("Identity", ["goes_on"], ["still"]), helper.make_node("Mul", ["state", "factor"], ["next"]),
         helper.make_node("Exp", ["next"], ["y"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []), helper.make_tensor_value_info("state", FLOAT, [4])],
        [helper.make_tensor_value_info("still", TensorProto.BOOL, []), helper.make_tensor_value_info("next", FLOAT, [4]),
         helper.make_tensor_value_info("y", FLOAT, [4])],
        [numpy_helper.from_array(np.float32([0.5]), "factor")])
    g = Graph("loop")
    state, rows = g.node("Loop", g.constant(np.int64(3)), g.constant(np.bool_(True)), g.input(4), outputs=2, body=body)
    yield g.model(g.node("Add", rows, state))


def exporters():
    """What exporters write beside operators."""
    g = Graph("pads_worked_out")
    n = g.node("ConstantOfShape", g.shape(2), value=numpy_helper.from_array(np.int64([0])))
    pads = g.node("Reshape", g.node("Concat", g.shape(0, 2), n, axis=0), g.shape(-1, 2))
    pads = g.node("Slice", pads, g.shape(-1), g.shape(-(2**63) + 1), g.shape(0), g.shape(-1))
    pads = g.node("Reshape", g.node("Transpose", pads, perm=[1, 0]), g.shape(-1))
    yield g.model(g.node("Exp", g.node("Pad", g.input(2, 3), pads)))
    g = Graph("parts_without_values")
    x, nothing = g.node("Split", g.input(2, 6), g.shape(6, 0), outputs=2, axis=1)
    yield g.model(g.node("Concat", g.node("Exp", x), nothing, axis=1))
    g = Graph("product_of_parts")
    q, k, v = g.node("Split", g.node("MatMul", g.input(5, 4), g.weight(4, 12)), outputs=3, axis=1)
    scores = g.node("MatMul", q, g.node("Transpose", k, perm=[1, 0]))
    yield g.model(g.node("MatMul", g.node("Softmax", scores), v))
    g = Graph("views_alone")
    yield g.model(g.node("Transpose", g.node("Reshape", g.input(4, 6), g.shape(2, 12)), perm=[1, 0]))


def repetitions():
    """What stands several times: in a Concat, in a sum."""
    parts = {"twice": "ff", "thrice": "fff", "with_half": "fhf", "half_first": "hf", "transposed": "ft", "with_another": "fgf"}
    for name, which in parts.items():
        g = Graph(f"concat_{name}")
        f = g.node("Relu", g.input(3, 3))
        read = {"f": f, "h": None, "t": None, "g": None}
        if "h" in which:
            read["h"] = g.node("Slice", f, g.shape(0), g.shape(2), g.shape(1))
        if "t" in which:
            read["t"] = g.node("Transpose", f, perm=[1, 0])
        if "g" in which:
            read["g"] = g.node("Tanh", g.input(3, 2))
        yield g.model(g.node("Cos", g.node("Concat", *[read[c] for c in which], axis=1)))
    g = Graph("concat_of_an_output")
    f = g.node("Relu", g.input(2, 3))
    yield g.model(f, g.node("Concat", f, g.node("Tanh", g.input(2, 3)), axis=0))
    for type in ["ReduceSum", "ReduceMean", "ReduceL2", "ReduceLogSumExp", "ReduceProd"]:
        g = Graph(f"repeated_{type.lower()}", opset=11)
        x = g.node("Expand", g.input(1, 3), g.shape(5, 3))
        yield g.model(g.node(type, x, axes=[0], keepdims=0), g.node(type, g.node("Neg", x), axes=[0, 1], keepdims=0))
    g = Graph("repeated_norms")
    x = g.node("Resize", g.input(1, 2, 3, 3), "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest",
               nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    x = g.node("InstanceNormalization", x, g.weight(2), g.weight(2))
    yield g.model(g.node("GlobalAveragePool", x), g.node("LayerNormalization", g.node("Tile", x, g.shape(1, 1, 1, 2)),
                                                         g.weight(12), axis=-1))
    g = Graph("repeated_pool")
    x = g.node("Expand", g.input(1, 2, 1, 1), g.shape(1, 2, 4, 4))
    yield g.model(g.node("AveragePool", x, kernel_shape=[2, 2]), g.node("Conv", x, g.weight(3, 2, 2, 2), pads=[1, 1, 0, 0]))
    g = Graph("product_of_repetitions")
    a, b = g.node("Expand", g.input(3, 1), g.shape(3, 5)), g.node("Expand", g.input(1, 4), g.shape(5, 4))
    yield g.model(g.node("MatMul", a, b), g.node("Einsum", a, equation="ij->i"))


def resizes():
    """Nearest neighbours: repetitions where the places are, runs that are copied elsewhere."""
    transforms = ["asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"]
    for transform in transforms:
        for rounding in ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]:
            g = Graph(f"resize_{transform}_{rounding}", opset=19)
            x = g.node("Resize", g.input(1, 1, 5, 4), "", g.constant(np.float32([1, 1, 2, 3])), mode="nearest",
                       nearest_mode=rounding, coordinate_transformation_mode=transform)
            yield g.model(g.node("Exp", x))
    for policy in ["not_larger", "not_smaller"]:
        g = Graph(f"resize_{policy}", opset=18)
        x = g.node("Resize", g.input(1, 1, 6, 5), "", "", g.shape(12, 20), mode="nearest", axes=[2, 3],
                   keep_aspect_ratio_policy=policy)
        yield g.model(g.node("Exp", x))
    g = Graph("resize_cropped", opset=19)
    roi = g.constant(np.float32([0.2, 0.2, 0.8, 0.8]))
    x = g.node("Resize", g.input(1, 1, 6, 5), roi, "", g.shape(12, 10), mode="nearest", axes=[2, 3],
               coordinate_transformation_mode="tf_crop_and_resize")
    yield g.model(g.node("Exp", x))
    g = Graph("resize_to_an_output", opset=19)
    x = g.node("Resize", g.node("Relu", g.input(1, 2, 3, 3)), "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest")
    yield g.model(x, g.node("Tile", g.node("Neg", x), g.shape(1, 2, 1, 1)))


def known_indices():
    """Gather of indices that are known: runs at equal distances, each once or several times."""
    for name, indices in {"irregular": [2, 0, 3], "backwards": [3, 2, 1, 0], "repeated": [1, 1, 1], "negative": [-1, 0, -1],
                          "runs": [0, 0, 2, 3, 1, 0], "matrix": [[2, 0], [3, 1]]}.items():
        g = Graph(f"gather_{name}")
        x = g.node("Neg", g.node("Gather", g.input(4, 3), g.constant(np.array(indices)), axis=0))
        yield g.model(x)
    g = Graph("gather_of_digits")
    x = g.node("Reshape", g.node("Transpose", g.input(2, 3, 4), perm=[1, 0, 2]), g.shape(3, 8))
    yield g.model(g.node("Exp", g.node("Gather", x, g.constant(np.array([5, 0, 0, 6])), axis=1)))


def constants():
    """What follows from constants alone is worked out before."""
    g = Graph("constant_product")
    low = g.node("Mul", g.node("MatMul", g.weight(8, 2), g.weight(2, 6)), g.constant(np.float32(0.5)))
    yield g.model(g.node("MatMul", g.input(3, 8), g.node("Add", g.weight(8, 6), low)))
    g = Graph("constant_angles")
    places = g.node("Unsqueeze", g.constant(np.arange(6, dtype=np.float32)), g.shape(1))
    angles = g.node("MatMul", places, g.weight(1, 4))
    angles = g.node("Concat", angles, angles, axis=-1)
    yield g.model(g.node("Mul", g.input(6, 8), g.node("Add", g.node("Cos", angles), g.node("Sin", angles))))
    g = Graph("constant_triangle")
    ones = g.node("ConstantOfShape", g.shape(5, 5), value=numpy_helper.from_array(np.float32([1])))
    masks = g.node("Trilu", ones, g.constant(np.int64(1))), g.node("Trilu", ones, upper=0)
    yield g.model(*[g.node("Mul", g.input(5, 5), m) for m in masks])
    g = Graph("constant_norms")
    w = g.node("Softmax", g.node("Pad", g.weight(3, 4), g.shape(0, 1, 0, 1)), axis=-1)
    yield g.model(g.node("Add", g.input(3, 6), g.node("ReduceMax", w, axes=[0])))
    g = Graph("crop_and_pad", opset=18)
    yield g.model(g.node("Exp", g.node("CenterCropPad", g.input(5, 4, 6), g.shape(2, 8), axes=[0, 1])))
    g = Graph("gather_nd_known")
    x = g.input(3, 4, 2)
    yield g.model(g.node("Neg", g.node("GatherND", x, g.constant(np.array([[2, 1], [0, -1], [1, 1]])))),
                  g.node("Neg", g.node("GatherND", x, g.constant(np.array([[[2]], [[0]]])))))
    g = Graph("gather_nd_of_batches")
    x = g.input(2, 3, 4)
    yield g.model(g.node("Neg", g.node("GatherND", x, g.constant(np.array([[1], [-1]])), batch_dims=1)),
                  g.node("Neg", g.node("GatherND", x, g.constant(np.array([[[1, 0], [2, 3]], [[0, 0], [1, -1]]])), batch_dims=1)),
                  g.node("Neg", g.node("GatherND", x, g.constant(np.array([[[1], [0], [3]], [[2], [2], [0]]])), batch_dims=2)))
    g = Graph("constant_places")
    kept = g.constant(np.array([[0, 1, 0], [1, 1, 0]]))
    rows = g.node("Squeeze", g.node("Slice", g.node("NonZero", kept), g.shape(1), g.shape(2), g.shape(0)), g.shape(0))
    sums = g.node("CumSum", g.constant(np.array([1, 1, 2])), g.constant(np.int64(0)), exclusive=1, reverse=1)
    x = g.input(4, 3)
    yield g.model(g.node("Neg", g.node("Gather", x, rows)), g.node("Neg", g.node("Gather", x, sums)))
    g = Graph("constant_selections")
    table = g.weight(3, 4)
    yield g.model(*[g.node("Mul", g.input(2, 4), t) for t in (
        g.node("Compress", table, g.constant(np.array([True, False, True])), axis=0),
        g.node("GatherElements", table, g.constant(np.array([[2, 0, -1, 1], [0, 0, 1, 1]])), axis=0),
        g.node("GatherND", table, g.constant(np.array([[2], [0]]))))])
    g = Graph("constant_updates")
    table, updates = g.weight(2, 4), g.weight(2, 1)
    yield g.model(*[g.node("Mul", g.input(2, 4), t) for t in (
        g.node("ScatterElements", table, g.constant(np.array([[3], [-4]])), updates, axis=1),
        g.node("ScatterND", table, g.constant(np.array([[1, 2], [0, 0]])), g.weight(2)))])
    g = Graph("constant_mask_of_many_values")  # 6,400
    ones = g.node("ConstantOfShape", g.shape(80, 80), value=numpy_helper.from_array(np.float32([1])))
    seen = g.node("Cast", g.node("Trilu", ones, upper=0), to=9)
    scores = g.node("Where", seen, g.input(1, 80), g.constant(np.float32(-10)))
    yield g.model(g.node("ReduceSum", scores, g.shape(1), keepdims=0))


def lists():
    """Sequences of tensors."""
    g = Graph("sequence_side_by_side")
    x = g.input(2, 3)
    parts = g.node("SequenceConstruct", x, g.node("Relu", x), x)
    y = g.node("ConcatFromSequence", parts, axis=0)
    yield g.model(g.node("MatMul", y, g.weight(3, 4)))
    g = Graph("sequence_on_top")
    x = g.input(2, 3)
    parts = g.node("SequenceInsert", g.node("SequenceConstruct", g.node("Relu", x), g.node("Tanh", x)), x, g.constant(np.int64(1)))
    parts = g.node("SequenceErase", parts, g.constant(np.int64(-1)))
    yield g.model(g.node("Neg", g.node("ConcatFromSequence", parts, axis=-1, new_axis=1)))
    g = Graph("sequence_at")
    parts = g.node("SplitToSequence", g.input(2, 7), g.constant(np.int64(3)), axis=1)
    a, b = (g.node("SequenceAt", parts, g.constant(np.int64(i))) for i in (1, -1))
    yield g.model(g.node("MatMul", a, g.weight(3, 4)), g.node("Neg", b))
    g = Graph("sequence_of_rows")
    parts = g.node("SplitToSequence", g.input(3, 4), axis=0, keepdims=0)
    yield g.model(g.node("Exp", g.node("SequenceAt", parts, g.constant(np.int64(2)))))


def all_models():
    from drawn_models import drawn

    for family in (convolutions, pools, products, elementwise, norms, layouts, quantised, newer, dequantised, borders,
                   bodies, exporters, repetitions, resizes, known_indices, constants, lists):
        yield from family()
    yield from drawn(range(80))
