/** Writes a graph as an ONNX file. Field numbers are those of onnx.proto. */

import { inOrder, withoutRepetition } from "./order.ts";
import { type Field, message } from "./protobuf.ts";
import { type Shape, shapeError, sizeOf } from "./shape.ts";
import {
  type Attribute,
  type DType,
  type Emitter,
  INPUT,
  type Inputs,
  type Named,
  type NodeForm,
  type Tensor,
} from "./tensor.ts";

const IR_VERSION = 9;
const OPSET = 18;
/** TensorProto.DataType */
const TYPE: Record<DType, number> = { f32: 1, i64: 7, bool: 9 };

export interface OnnxModel {
  readonly bytes: Uint8Array;
  /** In the order of first use. */
  readonly inputs: readonly Named[];
}

export interface OnnxOptions {
  /** Values of inputs by name; they become part of the file and are no inputs any more. */
  readonly weights?: ReadonlyMap<string, Float32Array>;
  /** Only ops of the ONNX standard, for any runtime; otherwise ONNX Runtime's own fused ones too. */
  readonly standard?: boolean;
}

/** The file that computes these named results. */
export function toOnnx(
  results: Readonly<Record<string, Tensor>>,
  { weights, standard = false }: OnnxOptions = {},
): OnnxModel {
  const names = Object.keys(results);
  const roots = withoutRepetition(Object.values(results));
  const nodes = inOrder(roots);
  const leaves = nodes.flatMap((node) => (isInput(node) ? [node.attributes] : []));
  const named = new Set(names);
  for (const { name, shape } of leaves) {
    if (named.has(name)) throw shapeError("toOnnx", `two tensors are called "${name}"`, shape);
    named.add(name);
  }
  const writer = new Writer(standard, named);
  const inputs = leaves.filter(({ name }) => !weights?.has(name));
  const known = new Map<Tensor, string>();
  for (const node of nodes) {
    const values = isInput(node) && weights?.get(node.attributes.name);
    if (values) writer.weights(node.attributes, values);
    const from = node.inputs.map((input) => known.get(input)) as unknown as Inputs<string>;
    known.set(node, node.op.emit(node, writer, from));
  }
  const outputs = names.map((name, i) => {
    const root = roots[i] as Tensor;
    writer.result(name, known.get(root) as string);
    return { name, shape: root.shape, dtype: root.dtype };
  });
  const graph = message([
    ...writer.nodes().map((node): Field => [1, node]),
    [2, "graph"],
    ...writer.constants.map((constant): Field => [5, constant]),
    ...inputs.map((value): Field => [11, valueInfo(value)]),
    ...outputs.map((value): Field => [12, valueInfo(value)]),
  ]);
  const others = writer.domains.map((domain): Field => [8, opset(domain, 1)]);
  const bytes = record(
    [1, IR_VERSION],
    [2, "lockedroom"],
    [7, graph],
    [8, opset("", OPSET)],
    ...others,
  );
  return { bytes, inputs };
}

function isInput(node: Tensor): node is Tensor<Named> {
  return node.op === (INPUT as unknown);
}

function opset(domain: string, version: number): Uint8Array {
  return record([1, domain], [2, version]);
}

const record = (...fields: Field[]): Uint8Array => message(fields);

interface Node {
  readonly type: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly attributes: Record<string, Attribute>;
  readonly outputs: readonly string[];
}

class Writer implements Emitter {
  readonly standard: boolean;
  readonly constants: Uint8Array[] = [];
  readonly #nodes: Node[] = [];
  /** Results by the name that they had while the graph was written. */
  readonly #results = new Map<string, string>();
  readonly #known = new Map<string, string>();
  /** Names of inputs and results. */
  readonly #taken: ReadonlySet<string>;
  #count = 0;

  constructor(standard: boolean, taken: ReadonlySet<string>) {
    this.standard = standard;
    this.#taken = taken;
  }

  #name(kind: string): string {
    const name = `${kind}${this.#count++}`;
    return this.#taken.has(name) ? this.#name(kind) : name;
  }

  node(
    type: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute> = {},
    { domain = "", outputs: count = 1 }: NodeForm = {},
    first = this.#name("v"),
  ): string {
    const outputs = Array.from({ length: count }, (_, i) => this.output(first, i));
    this.#nodes.push({ type, domain, inputs, attributes, outputs });
    return first;
  }

  output(first: string, index: number): string {
    return index === 0 ? first : `${first}.${index}`;
  }

  /** Besides ONNX's own. */
  get domains(): string[] {
    return [...new Set(this.#nodes.map(({ domain }) => domain))].filter((domain) => domain !== "");
  }

  /** Names a result: the node that makes it, or a copy where that is an input or has a name already. */
  result(name: string, made: string): void {
    const own =
      this.#nodes.some(({ outputs }) => outputs.includes(made)) && !this.#results.has(made);
    if (own) this.#results.set(made, name);
    else this.node("Identity", [made], {}, {}, name);
  }

  nodes(): Uint8Array[] {
    const named = (name: string) => this.#results.get(name) ?? name;
    return this.#nodes.map(({ type, domain, inputs, attributes, outputs }) =>
      message([
        ...inputs.map((name): Field => [1, named(name)]),
        ...outputs.map((name): Field => [2, named(name)]),
        [4, type],
        ...(domain === "" ? [] : [[7, domain] satisfies Field]),
        ...Object.entries(attributes).map(([name, value]): Field => [5, attribute(name, value)]),
      ]),
    );
  }

  constant(dtype: DType, values: readonly number[], shape: Shape): string {
    const key = JSON.stringify([dtype, shape, values]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const name = this.#name("c");
    this.#known.set(key, name);
    this.constants.push(tensorProto(name, dtype, shape, raw(dtype, values)));
    return name;
  }

  /** A large constant under its own name; it is not looked up among the others. */
  weights({ name, shape, dtype }: Named, values: Float32Array): void {
    if (dtype !== "f32" || sizeOf(shape) !== values.length) {
      throw shapeError("toOnnx", `${values.length} numbers do not fill "${name}"`, shape);
    }
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.constants.push(tensorProto(name, dtype, shape, bytes));
  }

  integers(values: readonly number[]): string {
    return this.constant("i64", values, [values.length]);
  }
}

function tensorProto(name: string, dtype: DType, shape: Shape, bytes: Uint8Array): Uint8Array {
  return message([...shape.map((n): Field => [1, n]), [2, TYPE[dtype]], [8, name], [9, bytes]]);
}

function raw(dtype: DType, values: readonly number[]): Uint8Array {
  const array =
    dtype === "f32"
      ? Float32Array.from(values)
      : dtype === "i64"
        ? BigInt64Array.from(values, BigInt)
        : Uint8Array.from(values);
  return new Uint8Array(array.buffer);
}

/** AttributeProto: 2 float, 3 int, 4 string, 8 ints; 20 says which. */
function attribute(name: string, value: Attribute): Uint8Array {
  if (typeof value === "number") return record([1, name], [3, value], [20, 2]);
  if (typeof value === "string") return record([1, name], [4, value], [20, 3]);
  if ("float" in value) return record([1, name], [2, value], [20, 1]);
  return record([1, name], ...value.map((n): Field => [8, n]), [20, 7]);
}

function valueInfo({ name, shape, dtype }: Named): Uint8Array {
  const dimensions = message(shape.map((n): Field => [1, record([1, n])]));
  const tensor = record([1, TYPE[dtype]], [2, dimensions]);
  return record([1, name], [2, record([1, tensor])]);
}
