/** A symbolic tensor: a node of the graph with a static shape. Nothing is computed here. */

import { type Shape, shapeError, sizeOf } from "./shape.ts";

export type DType = "f32" | "i64" | "bool";

/** Shape and type of a tensor. */
export interface Kind {
  readonly shape: Shape;
  readonly dtype: DType;
}

/** Values in the float64 interpreter; integers and booleans are numbers too. */
export interface Values {
  readonly shape: Shape;
  readonly data: Float64Array;
}

/** An op knows how many inputs it has; the type only says that there may be four and more. */
export type Inputs<T> = readonly [T, T, T, T, ...T[]];

/** One kind of node: its shape, value, gradient and ONNX form. */
export interface Op<A = unknown> {
  readonly name: string;
  infer(inputs: Inputs<Tensor>, attributes: A): Kind;
  /** The value in float64. */
  evaluate(inputs: Inputs<Values>, attributes: A, kind: Kind): Float64Array;
  /**
   * The gradient for each input, given that of the output; undefined where there is none.
   * Broadcast axes need not be summed: `gradients` does that.
   */
  gradient?(node: Tensor<A>, outer: Tensor): readonly (Tensor | undefined)[];
  emit(node: Tensor<A>, emitter: Emitter, inputs: Inputs<string>): string;
}

/** Writes the ONNX nodes of an op. */
export interface Emitter {
  /** Use only ops of the ONNX standard. */
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
  /** The op's domain; the ONNX standard by default. */
  readonly domain?: string;
  readonly outputs?: number;
}

export type Attribute = number | string | readonly number[] | { readonly float: number };

export class Tensor<A = unknown> implements Kind {
  readonly op: Op<A>;
  readonly inputs: Inputs<Tensor>;
  readonly attributes: A;
  readonly shape: Shape;
  readonly dtype: DType;

  constructor(op: Op<A>, inputs: readonly Tensor[], attributes: A) {
    this.op = op;
    this.inputs = inputs as Inputs<Tensor>;
    this.attributes = attributes;
    const { shape, dtype } = op.infer(this.inputs, attributes);
    this.shape = shape;
    this.dtype = dtype;
  }

  get size(): number {
    return sizeOf(this.shape);
  }
}

/** An input of the graph. */
export interface Named extends Kind {
  readonly name: string;
}

export const INPUT: Op<Named> = {
  name: "input",
  infer: (_, { shape, dtype }) => {
    if (shape.some((n) => !Number.isInteger(n) || n < 0)) {
      throw shapeError("input", "sizes must be whole numbers from 0 up", shape);
    }
    return { shape, dtype };
  },
  evaluate: (_, { name }) => {
    throw new Error(`the input ${name} is missing`);
  },
  emit: (node) => node.attributes.name,
};

export function input(name: string, shape: Shape, dtype: DType = "f32"): Tensor<Named> {
  return new Tensor(INPUT, [], { name, shape, dtype });
}

interface Fixed extends Kind {
  readonly data: readonly number[];
}

const CONSTANT: Op<Fixed> = {
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
