/** Division of each row by its root mean square, and a weight for each column. */

import { sameShape, shapeError, sizeOf } from "../shape.ts";
import { type Emitter, type Inputs, type Op, Tensor, type Values } from "../tensor.ts";
import { mul, square, sub } from "./elementwise.ts";
import { reshape, transpose } from "./layout.ts";
import { matmul } from "./product.ts";

interface Norm {
  readonly epsilon: number;
}

const FUSED = "SimplifiedLayerNormalization";

const RMS_NORM: Op<Norm> = {
  name: FUSED,
  infer: ([x, weight]) => {
    if (!sameShape(weight.shape, x.shape.slice(-1))) {
      throw shapeError("RmsNorm", "expected one weight for each column", x.shape, weight.shape);
    }
    return { shape: x.shape, dtype: "f32" };
  },
  evaluate: ([x, weight], { epsilon }) => {
    const width = weight.data.length;
    const scales = scalesOf(x, epsilon);
    return x.data.map(
      (value, i) =>
        value * (scales[Math.floor(i / width)] as number) * (weight.data[i % width] as number),
    );
  },
  gradient: (node, outer) => {
    const [x, weight] = node.inputs;
    const width = weight.size;
    const rows = x.size / width;
    const scale = new Tensor(SCALE, [node, x], node.attributes);
    const moved = reshape(mul(outer, x), [rows, width]);
    // How much of the slope points along the row, which the division takes away.
    const along = reshape(matmul(moved, reshape(weight, [width, 1])), scale.shape);
    const taken = mul(mul(square(scale), scale), mul(along, 1 / width));
    return [
      sub(mul(mul(outer, weight), scale), mul(x, taken)),
      reshape(matmul(transpose(reshape(scale, [rows, 1])), moved), [width]),
    ];
  },
  emit: ({ attributes: { epsilon } }, emitter, inputs) =>
    emitter.standard
      ? plain(epsilon, emitter, inputs)
      : emitter.node(FUSED, inputs, { axis: -1, epsilon: { float: epsilon } }, { outputs: 2 }),
};

/** What each row was multiplied with: the second output of the node that is its first input. */
const SCALE: Op<Norm> = {
  name: "RmsNormScale",
  infer: ([, x]) => ({ shape: [...x.shape.slice(0, -1), 1], dtype: "f32" }),
  evaluate: ([, x], { epsilon }) => scalesOf(x, epsilon),
  emit: ({ attributes: { epsilon } }, emitter, [norm, x]) =>
    emitter.standard ? plainScale(epsilon, emitter, x) : emitter.output(norm, 1),
};

/** The same in the ops that every runtime knows. */
function plain(epsilon: number, emitter: Emitter, [x, weight]: Inputs<string>): string {
  const scale = plainScale(epsilon, emitter, x);
  return emitter.node("Mul", [emitter.node("Mul", [x, scale]), weight]);
}

function plainScale(epsilon: number, emitter: Emitter, x: string): string {
  const squares = emitter.node("Mul", [x, x]);
  const mean = emitter.node("ReduceMean", [squares, emitter.integers([-1])], { keepdims: 1 });
  const shifted = emitter.node("Add", [mean, emitter.constant("f32", [epsilon], [])]);
  return emitter.node("Reciprocal", [emitter.node("Sqrt", [shifted])]);
}

function scalesOf({ shape, data }: Values, epsilon: number): Float64Array {
  const width = shape.at(-1) as number;
  return Float64Array.from({ length: sizeOf(shape) / width }, (_, row) => {
    const squares = data.subarray(row * width, (row + 1) * width).map((x) => x * x);
    return 1 / Math.sqrt(squares.reduce((sum, x) => sum + x, 0) / width + epsilon);
  });
}

export function rmsNorm(x: Tensor, weight: Tensor, epsilon: number): Tensor {
  return new Tensor(RMS_NORM, [x, weight], { epsilon });
}
