/** The gradient of packed rows is that of rows computed each for itself. */

import { describe, expect, test } from "vitest";
import { rngAt } from "../core/rng.ts";
import { actionCount, completionRow, type TokenRow } from "../core/token-row.ts";
import { interpret } from "../graph/interpret.ts";
import { inOrder } from "../graph/order.ts";
import { place } from "../graph/parameters.ts";
import { Session } from "../graph/session.ts";
import type { Tensor } from "../graph/tensor.ts";
import { gradientStep } from "../graph/train-step.ts";
import { algorithmOf } from "../learn/algorithms/index.ts";
import { trainSettings } from "../learn/settings.ts";
import { lossCallOf } from "../learn/update.ts";
import { type Architecture, attentionLength, parametersOf } from "../policy/architecture.ts";
import { initialise, SIZES } from "../policy/initialise.ts";
import { packRows } from "../policy/packing.ts";
import { batchShape, collate, type Feeds } from "./collate.ts";
import type { GraphLoss, TrainingRow } from "./loss.ts";
import { columnsOf, lossGraph } from "./loss-graph.ts";

const LIMIT = 7;
const architecture: Architecture = {
  ...{ ...SIZES.nano, vocabulary: 11, width: 8, layers: 2, heads: 2, keyHeads: 1, headSize: 4 },
  ...{ inner: 12, valueHead: true },
};
const { list, total } = place(parametersOf(architecture));
/** Large weights, so that what a token sees matters. */
const parameters = (() => {
  const rng = rngAt("packed gradients");
  return initialise(architecture, 5).map((x) =>
    x === 1 ? 1.1 : 12 * x + 0.1 * (rng.next() - 0.5),
  );
})();

/**
 * Unequal lengths, a group of one, an empty completion, one at the limit, the same row twice, another
 * prompt of the same length, and a row of two turns with something read between them.
 */
const ROWS: readonly TokenRow[] = [
  completionRow([1, 4, 5, 6], [7, 2]),
  completionRow([1, 4, 5, 6], [8, 8, 9, 3, 2]),
  completionRow([1, 4, 5, 6], []),
  completionRow([1, 4, 5, 6], [7, 2]),
  completionRow([1, 9], [3, 4, 5, 6, 7, 8, 9]),
  completionRow([1, 3, 3, 3, 3, 3, 8], [2]),
  completionRow([1, 4, 5, 6], [10, 2]),
  completionRow([1, 4, 7, 6], [10, 2]),
  {
    tokens: [1, 4, 5, 6, 6, 5, 10, 9, 4, 2],
    actions: [
      [4, 6],
      [8, 10],
    ],
  },
];

const CASES = ["sft", "grpo", "ppo", "dpo", "kto"];

function rowsFor(loss: GraphLoss): TrainingRow[] {
  const rng = rngAt("columns");
  return ROWS.map((row) => {
    const columns = Object.entries(columnsOf(loss)).map(([name, kind]) => [
      name,
      kind === "row" ? rng.next() : Array.from({ length: actionCount(row) }, () => -2 * rng.next()),
    ]);
    return { ...row, columns: Object.fromEntries(columns) };
  });
}

function callOf(name: string): GraphLoss {
  const algorithm = algorithmOf(name);
  const kl = algorithm.needs === "rollouts" ? { kl: { mode: "fixed" } } : {};
  const settings = trainSettings(algorithm, { steps: 1, ...kl });
  const can = { graphLoss: true, losses: [], exactKl: true, sameBytes: true };
  return lossCallOf(can, algorithm, settings, LIMIT) as GraphLoss;
}

/** The parts of a batch as graphs with their feeds. */
function partsOf(loss: GraphLoss, unpacked: boolean, mostRows?: number) {
  const rows = rowsFor(loss);
  const packing = packRows(rows, {
    ...{ unpacked, mostRows, together: loss.together },
    attentionLength: attentionLength(architecture),
  });
  const shape = batchShape(rows, packing, LIMIT);
  const options = { ...loss, columns: columnsOf(loss), microBatchSize: null };
  const graph = gradientStep(list, total, (own) =>
    lossGraph(architecture, (name) => own.get(name) as Tensor, shape, loss),
  );
  const fixed = { kl_coefficient: Float32Array.of(0.3), parameters };
  const feeds = collate(rows, packing, shape, options).map((made) => ({ ...made(), ...fixed }));
  return { graph, feeds, packing };
}

type Found = Readonly<Record<string, ArrayLike<number>>>;

/** Everything that a step computes, added over the parts. */
function added(parts: readonly Found[]): Record<string, Float64Array> {
  const sums: Record<string, Float64Array> = {};
  for (const part of parts) {
    for (const [name, values] of Object.entries(part)) {
      const before = sums[name];
      sums[name] = Float64Array.from(values, (x, i) =>
        name.startsWith("max:") ? Math.max(x, before?.[i] ?? -Infinity) : x + (before?.[i] ?? 0),
      );
    }
  }
  return sums;
}

function inFloat64(loss: GraphLoss, unpacked: boolean, mostRows?: number) {
  const { graph, feeds } = partsOf(loss, unpacked, mostRows);
  const names = Object.keys(graph);
  const leaves = inOrder(Object.values(graph)).filter(({ op }) => op.name === "input");
  return added(
    feeds.map((fed: Feeds) => {
      const values = new Map<Tensor, ArrayLike<number>>(
        leaves.map((leaf) => [
          leaf,
          Array.from(fed[(leaf.attributes as { name: string }).name] ?? [], Number),
        ]),
      );
      const results = interpret(Object.values(graph), values);
      return Object.fromEntries(names.map((name, i) => [name, results[i]?.data ?? []]));
    }),
  );
}

async function byRuntime(loss: GraphLoss, unpacked: boolean, mostRows?: number) {
  const { graph, feeds } = partsOf(loss, unpacked, mostRows);
  const session = await Session.create(graph);
  const results: Found[] = [];
  for (const fed of feeds) results.push((await session.run(fed)) as unknown as Found);
  await session.close();
  return added(results);
}

/** The largest difference, relative to the largest value. */
function distance(a: ArrayLike<number> = [], b: ArrayLike<number> = []): number {
  expect(a.length).toBe(b.length);
  const largest = Math.max(...Array.from(a, Math.abs), 1e-12);
  return Math.max(...Array.from(a, (x, i) => Math.abs(x - (b[i] as number)))) / largest;
}

describe.each(CASES)("%s", (name) => {
  const loss = callOf(name);
  const alone = inFloat64(loss, true);

  test("has a gradient at all, and parts to add", () => {
    const first = list.find(({ name }) => name.includes("layers.0.")) as (typeof list)[number];
    const begin = alone.gradient?.slice(first.offset, first.offset + first.size) ?? [];
    expect(Math.max(...begin.map(Math.abs)), first.name).toBeGreaterThan(1e-3);
    expect(partsOf(loss, false, 2).packing.parts.length).toBeGreaterThan(1);
    expect(partsOf(loss, false).packing.parts.flatMap(({ packs }) => packs).length).toBeLessThan(
      ROWS.length,
    );
  });

  test.each([undefined, 2])("packed as alone in float64, at most %s rows a part", (mostRows) => {
    const packed = inFloat64(loss, false, mostRows);
    expect(Object.keys(packed)).toEqual(Object.keys(alone));
    for (const [key, values] of Object.entries(alone)) {
      expect(distance(values, packed[key]), key).toBeLessThan(1e-9);
    }
  });

  test("and in the runtime's float32", async () => {
    const [one, other] = [await byRuntime(loss, true), await byRuntime(loss, false)];
    expect(distance(one.gradient, other.gradient)).toBeLessThan(1e-5);
    expect(distance(one.loss, other.loss)).toBeLessThan(1e-5);
    expect(distance(alone.gradient, other.gradient)).toBeLessThan(1e-5);
  });
});
