/** A symbolic tensor: a node of the graph with a static shape. Nothing is computed here. */

import { type Shape, shapeError, sizeOf } from "./shape.ts";

export type DType = "f32" | "i64" | "bool";

/** What is known of a tensor before anything runs. */
export interface Kind {
  readonly shape: Shape;
  readonly dtype: DType;
}

/** Values as the float64 oracle holds them; integers and truth values are numbers too. */
export interface Values {
  readonly shape: Shape;
  readonly data: Float64Array;
}

/** One kind of node: how its shape follows, what it computes, its gradient, and its ONNX form. */
export interface Op<A = unknown> {
  readonly name: string;
  infer(inputs: readonly Tensor[], attributes: A): Kind;
  /** The slow and right way. */
  evaluate(inputs: readonly Values[], attributes: A, kind: Kind): Float64Array;
  /**
   * For each input the gradient of the loss, given that of the output; absent where none flows. What
   * was broadcast need not be summed: `gradients` does that.
   */
  gradient?(node: Tensor<A>, outer: Tensor): readonly (Tensor | undefined)[];
  emit(node: Tensor<A>, emitter: Emitter, inputs: readonly string[]): string;
}

/** What an op needs to write itself as ONNX. */
export interface Emitter {
  /** Only ops of the ONNX standard may be written: the file is for any runtime. */
  readonly standard: boolean;
  node(
    type: string,
    inputs: readonly string[],
    attributes?: Record<string, Attribute>,
    form?: NodeForm,
  ): string;
  /** Another output of a node that has several; the name of the node's first is given. */
  output(first: string, index: number): string;
  constant(dtype: DType, values: readonly number[], shape: Shape): string;
  /** A list of 64-bit integers, as ONNX takes axes and shapes. */
  integers(values: readonly number[]): string;
}

/** How a node differs from one of the standard with a single output. */
export interface NodeForm {
  /** Whose op it is; ONNX's own unless said. */
  readonly domain?: string;
  readonly outputs?: number;
}

export type Attribute = number | string | readonly number[] | { readonly float: number };

export class Tensor<A = unknown> implements Kind {
  readonly op: Op<A>;
  readonly inputs: readonly Tensor[];
  readonly attributes: A;
  readonly shape: Shape;
  readonly dtype: DType;

  constructor(op: Op<A>, inputs: readonly Tensor[], attributes: A) {
    const { shape, dtype } = op.infer(inputs, attributes);
    this.op = op;
    this.inputs = inputs;
    this.attributes = attributes;
    this.shape = shape;
    this.dtype = dtype;
  }

  get size(): number {
    return sizeOf(this.shape);
  }
}

interface Named extends Kind {
  readonly name: string;
}

/** A leaf that is fed when the graph runs. */
export const INPUT: Op<Named> = {
  name: "input",
  infer: (_, { shape, dtype }) => {
    if (shape.some((n) => !Number.isInteger(n) || n < 0)) {
      throw shapeError("input", "sizes must be whole numbers from 0 up", shape);
    }
    return { shape, dtype };
  },
  evaluate: (_, { name }) => {
    throw new Error(`the input ${name} was not fed`);
  },
  emit: (node) => node.attributes.name,
};

export function input(name: string, shape: Shape, dtype: DType = "f32"): Tensor<Named> {
  return new Tensor(INPUT, [], { name, shape, dtype });
}

interface Fixed extends Kind {
  readonly data: readonly number[];
}

/** A leaf whose values are part of the graph. */
export const CONSTANT: Op<Fixed> = {
  name: "constant",
  infer: (_, { shape, dtype, data }) => {
    if (data.length !== sizeOf(shape)) {
      throw shapeError("constant", `${data.length} values do not fill the shape`, shape);
    }
    return { shape, dtype };
  },
  evaluate: (_, { data }) => Float64Array.from(data),
  emit: ({ attributes: { data, shape, dtype } }, emitter) => emitter.constant(dtype, data, shape),
};

export function constant(
  data: readonly number[],
  shape: Shape,
  dtype: DType = "f32",
): Tensor<Fixed> {
  return new Tensor(CONSTANT, [], { data, shape, dtype });
}

export function scalar(value: number): Tensor {
  return constant([value], []);
}
