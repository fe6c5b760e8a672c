export { gradients } from "./gradients.ts";
export { differences, type Feeds, interpret } from "./interpret.ts";
export { type OnnxModel, toOnnx } from "./onnx.ts";
export * from "./ops/elementwise.ts";
export { gather, pick, scatterAdd, take } from "./ops/indexing.ts";
export { concat, expand, reshape, slice, transpose, zeros } from "./ops/layout.ts";
export { rmsNorm } from "./ops/norm.ts";
export { matmul } from "./ops/product.ts";
export { max, mean, sum, sumTo } from "./ops/reduce.ts";
export { rotate } from "./ops/rotate.ts";
export { attention, logSoftmax, softmaxOf } from "./ops/softmax.ts";
export { inOrder, withoutRepetition } from "./order.ts";
export {
  type Data,
  loadRuntime,
  type Runtime,
  type RuntimeSession,
  type RuntimeTensor,
  Session,
  type SessionOptions,
} from "./session.ts";
export type { Shape } from "./shape.ts";
export { constant, type DType, input, scalar, Tensor, type Values } from "./tensor.ts";
