"""Random ONNX graphs: Concat of tensors that stand there twice, repetitions before sums, windows that see padding
alone, known indices without a rule; and what comes between them."""

import numpy as np

from small_models import Graph

LARGEST = 400  # values of a tensor
REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"]


class Drawing:
    """A graph that grows by random nodes; `shapes` of what can be read."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.graph = Graph(f"drawn_{seed}", opset=17)
        self.graph.random = self.random
        self.shapes, self.read = {}, set()
        for shape in ([2, 3, 4], [1, 4, 3, 3], [2, 3], [1, 6])[seed % 2 :: 2]:
            self.shapes[self.graph.input(*shape)] = shape

    def pick(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def add(self, type, inputs, shape, **attributes):
        if np.prod(shape) > LARGEST:
            return
        self.read.update(i for i in inputs if i in self.shapes)
        self.shapes[self.graph.node(type, *inputs, **attributes)] = [int(s) for s in shape]

    def elementwise(self, x, shape):
        self.add(self.pick(["Relu", "Neg", "Tanh"]), [x], shape)

    def transpose(self, x, shape):
        order = self.random.permutation(len(shape)).tolist()
        self.add("Transpose", [x], [shape[d] for d in order], perm=order)

    def part(self, x, shape):
        axis = self.pick([d for d in range(len(shape)) if shape[d] > 1])
        count = int(self.random.integers(1, shape[axis]))
        g = self.graph
        self.add("Slice", [x, g.shape(0), g.shape(count), g.shape(axis)], [*shape[:axis], count, *shape[axis + 1 :]])

    def concatenate(self, x, shape):
        axis = int(self.random.integers(len(shape)))
        fits = [n for n, s in self.shapes.items() if len(s) == len(shape) and s[:axis] == shape[:axis] and
                s[axis + 1 :] == shape[axis + 1 :]]
        parts = [x] + [self.pick(fits + [x]) for _ in range(int(self.random.integers(1, 3)))]
        self.random.shuffle(parts)
        size = sum(self.shapes[part][axis] for part in parts)
        self.add("Concat", parts, [*shape[:axis], size, *shape[axis + 1 :]], axis=axis)

    def expand(self, x, shape):
        wanted = [int(self.random.integers(2, 4)) if s == 1 else s for s in shape]
        if self.random.random() < 0.5:
            wanted = [int(self.random.integers(2, 4))] + wanted
        self.add("Expand", [x, self.graph.shape(*wanted)], wanted)

    def tile(self, x, shape):
        repeats = self.random.integers(1, 3, len(shape)).tolist()
        self.add("Tile", [x, self.graph.shape(*repeats)], [a * b for a, b in zip(shape, repeats)])

    def upsample(self, x, shape):
        if len(shape) == 4:
            self.add("Resize", [x, "", self.graph.constant(np.float32([1, 1, 2, 2]))],
                     [*shape[:2], 2 * shape[2], 2 * shape[3]], mode="nearest", nearest_mode="floor",
                     coordinate_transformation_mode="asymmetric")

    def reduce(self, x, shape):
        axes = sorted(self.random.permutation(len(shape))[: int(self.random.integers(1, max(2, len(shape))))].tolist())
        result = [s for d, s in enumerate(shape) if d not in axes]
        type = self.pick(REDUCTIONS)
        if type == "ReduceSum":
            self.add(type, [x, self.graph.shape(*axes)], result, keepdims=0)
        else:
            self.add(type, [x], result, axes=axes, keepdims=0)

    def normalise(self, x, shape):
        self.add("LayerNormalization", [x, self.graph.weight(shape[-1])], shape, axis=-1, epsilon=0.01)

    def softmax(self, x, shape):
        self.add("Softmax", [x], shape, axis=int(self.random.integers(len(shape))))

    def multiply(self, x, shape):
        columns = self.pick([1, 2, 3])
        fits = [n for n, s in self.shapes.items() if len(s) == 2 and s[0] == shape[-1]]
        y = self.pick(fits + [self.graph.weight(shape[-1], columns)])
        self.add("MatMul", [x, y], [*shape[:-1], self.shapes.get(y, [0, columns])[1]])

    def convolve(self, x, shape):
        if len(shape) != 4:
            return
        kernel, strides = self.random.integers(1, 4, 2), self.random.integers(1, 3, 2)
        pads, dilations = self.random.integers(0, 4, 4), self.random.integers(1, 3, 2)
        plane = [(shape[d + 2] + pads[d] + pads[d + 2] - dilations[d] * (kernel[d] - 1) - 1) // strides[d] + 1 for d in (0, 1)]
        if min(plane) < 1:
            return
        weights = [self.graph.weight(2, shape[1], *kernel)] + [self.graph.weight(2)] * (self.random.random() < 0.5)
        self.add("Conv", [x, *weights], [shape[0], 2, *plane], strides=strides.tolist(), pads=pads.tolist(),
                 dilations=dilations.tolist(), kernel_shape=kernel.tolist())

    def gather(self, x, shape):
        axis = int(self.random.integers(len(shape)))
        indices = self.random.integers(-shape[axis], shape[axis], int(self.random.integers(1, 6)))
        self.add("Gather", [x, self.graph.constant(indices)], [*shape[:axis], len(indices), *shape[axis + 1 :]], axis=axis)

    def join(self, x, shape):
        fits = [n for n, s in self.shapes.items() if s == shape]
        self.add(self.pick(["Add", "Sub", "Mul"]), [x, self.pick(fits)], shape)

    def grow(self):
        steps = [self.elementwise, self.transpose, self.part, self.concatenate, self.concatenate, self.expand, self.tile,
                 self.upsample, self.reduce, self.reduce, self.normalise, self.softmax, self.multiply, self.convolve,
                 self.convolve, self.gather, self.gather, self.join]
        for _ in range(int(self.random.integers(3, 8))):
            x = self.pick(list(self.shapes)[-3:])
            if self.shapes[x] and max(self.shapes[x]) > 1:
                self.pick(steps)(x, self.shapes[x])

    def model(self):
        """What nobody reads is put out, by an operator of its own; the first tensor that is read, as it is."""
        inputs = {i.name for i in self.graph.inputs}
        made = [n for n in self.shapes if n not in inputs]
        outputs = [self.graph.node("Neg", n) for n in made if n not in self.read]
        outputs += [n for n in made if n in self.read and self.is_computed(n)][:1] * (self.random.random() < 0.3)
        used = {i for n in self.graph.nodes for i in n.input}
        self.graph.inputs = [i for i in self.graph.inputs if i.name in used]
        self.graph.constants = [c for c in self.graph.constants if c.name in used]
        return self.graph.model(*outputs)

    def is_computed(self, name):
        """Views of an output are no whole tensors of the workload."""
        types = {o: n.op_type for n in self.graph.nodes for o in n.output}
        return types[name] in ("Relu", "Neg", "Tanh", "Conv", "MatMul", "Add", "Sub", "Mul", "Softmax")


def drawn(seeds):
    for seed in seeds:
        drawing = Drawing(seed)
        drawing.grow()
        if drawing.graph.nodes:
            yield drawing.model()
