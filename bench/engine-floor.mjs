// The floor of training: only the matrix products of a step, in the same runtime. Left out are
// products that are specific to this engine: rotary positions, the one-hot gradient of the embedding,
// sums written as products.
import { concat, input, matmul, reshape, Session, slice, transpose } from "../dist/graph/index.js";

export async function floorStep(a, { batch, length }, options) {
  const products = productsOf(a, batch * length, batch * a.heads, length);
  // One element of each result keeps it from being optimised away, at no cost.
  const kept = products.map((product) => slice(reshape(product, [product.size]), 0, 0, 1));
  const session = await Session.create({ kept: concat(kept, 0) }, options);
  const feeds = feedsOf(session);
  return { step: () => session.run(feeds), close: () => session.close() };
}

function productsOf(a, rows, heads, length) {
  const attended = a.heads * a.headSize;
  const layer = (i) => {
    const at = (name) => `${name}.${i}`;
    const leaf = (name, ...shape) => input(at(name), shape);
    const [normed, normed2] = [leaf("normed", rows, a.width), leaf("normed2", rows, a.width)];
    return [
      ...["q", "k", "v"].flatMap((part) => linear(at(part), normed, attended)),
      ...attention(
        (name) => leaf(name, heads, length, a.headSize),
        (name) => leaf(name, heads, length, length),
      ),
      ...linear(at("o"), leaf("joined", rows, attended), a.width),
      ...["gate", "up"].flatMap((part) => linear(at(part), normed2, a.inner)),
      ...linear(at("down"), leaf("inner", rows, a.inner), a.width),
    ];
  };
  return [
    ...Array.from({ length: a.layers }, (_, i) => layer(i)).flat(),
    ...linear("head", input("last", [rows, a.width]), a.vocabulary),
  ];
}

/** Forward, gradient of the input, gradient of the weight (one row per output). */
function linear(name, x, width) {
  const [rows, inner] = x.shape;
  const weight = input(`${name}.weight`, [width, inner]);
  const slope = input(`${name}.slope`, [rows, width]);
  return [matmul(x, transpose(weight)), matmul(slope, weight), matmul(transpose(slope), x)];
}

/** Attention scores and weighted values, and the two gradients of each. */
function attention(vectors, square) {
  const [queries, keys, values] = ["queries", "keys", "values"].map(vectors);
  const [weights, scoreSlope, seenSlope] = [square("weights"), square("scores"), vectors("seen")];
  return [
    matmul(queries, transpose(keys)),
    matmul(weights, values),
    matmul(seenSlope, transpose(values)),
    matmul(transpose(weights), seenSlope),
    matmul(scoreSlope, keys),
    matmul(transpose(scoreSlope), queries),
  ];
}

/** Each input has its own memory, as in a step: shared memory would stay in the cache. */
function feedsOf(session) {
  return Object.fromEntries(
    session.inputs.map(({ name, shape }) => {
      const length = shape.reduce((product, n) => product * n, 1);
      const memory = Float32Array.from({ length }, (_, i) => ((i * 7919) % 1009) / 1009 - 0.5);
      return [name, session.tensor(memory, shape)];
    }),
  );
}
