/** Rotary position embedding: the two halves of each head, as pairs, rotated by position-dependent angles. */

import { sameShape, shapeError } from "../shape.ts";
import { type Emitter, type Inputs, type Op, Tensor } from "../tensor.ts";
import { neg } from "./elementwise.ts";

const ROTATE: Op<null> = {
  name: "RotaryEmbedding",
  infer: ([x, positions, cosine, sine]) => {
    if (x.shape.length !== 3 || !sameShape(positions.shape, x.shape.slice(0, 2))) {
      const expected =
        "expected [batch, length, heads × head size] and one position for each token";
      throw shapeError("RotaryEmbedding", expected, x.shape, positions.shape);
    }
    const half = cosine.shape[1] as number;
    if (!sameShape(cosine.shape, sine.shape) || (x.shape[2] as number) % (2 * half) !== 0) {
      throw shapeError("RotaryEmbedding", "the tables do not fit heads", x.shape, cosine.shape);
    }
    return { shape: x.shape, dtype: "f32" };
  },
  evaluate: ([x, positions, cosine, sine]) => {
    const [half, width] = [cosine.shape[1] as number, x.shape[2] as number];
    return x.data.map((value, i) => {
      const place = (positions.data[Math.floor(i / width)] as number) * half + (i % half);
      const first = i % (2 * half) < half;
      const other = x.data[first ? i + half : i - half] as number;
      const [c, s] = [cosine.data[place] as number, sine.data[place] as number];
      return first ? value * c - other * s : value * c + other * s;
    });
  },
  // The inverse rotation.
  gradient: ({ inputs: [, positions, cosine, sine] }, outer) => [
    rotate(outer, positions, cosine, neg(sine)),
  ],
  emit: (node, emitter, inputs) =>
    emitter.standard
      ? plain(node, emitter, inputs)
      : emitter.node("RotaryEmbedding", inputs, {}, { domain: "com.microsoft" }),
};

/** The same in the ops that every runtime knows. */
function plain(
  { shape, inputs }: Tensor,
  emitter: Emitter,
  [x, positions, cosine, sine]: Inputs<string>,
): string {
  const [batch, length, width] = shape as unknown as [number, number, number];
  const half = inputs[2].shape[1] as number;
  const reshaped = (name: string, to: readonly number[]) =>
    emitter.node("Reshape", [name, emitter.integers(to)]);
  const halves = reshaped(x, [batch, length, width / (2 * half), 2, half]);
  const [a, b] = [0, 1].map((i) =>
    emitter.node("Gather", [halves, emitter.constant("i64", [i], [])], { axis: 3 }),
  ) as [string, string];
  const [c, s] = [cosine, sine].map((table) =>
    reshaped(emitter.node("Gather", [table, positions], { axis: 0 }), [batch, length, 1, half]),
  ) as [string, string];
  const product = (left: string, right: string) => emitter.node("Mul", [left, right]);
  const rotated = [
    emitter.node("Sub", [product(a, c), product(b, s)]),
    emitter.node("Add", [product(b, c), product(a, s)]),
  ];
  return reshaped(emitter.node("Concat", rotated, { axis: -1 }), shape);
}

/**
 * `x` is [batch, length, heads × head size], with a position for each [batch, length]; the tables are
 * [positions, head size / 2].
 */
export function rotate(x: Tensor, positions: Tensor, cosine: Tensor, sine: Tensor): Tensor {
  return new Tensor(ROTATE, [x, positions, cosine, sine], null);
}
