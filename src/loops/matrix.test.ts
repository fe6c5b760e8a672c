/** The cells of a matrix: which are run, which are kept, and what makes one run again. */

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Policy, SampledCompletion, SampleRequest } from "../core/policy.ts";
import { matrixSpecSchema } from "../runs/matrix-schema.ts";
import { openScorer } from "../scorers/open.ts";
import { baselineOf, type Cell, cellsOf, runMatrix } from "./matrix.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-matrix-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const dataset = path.join(root, "d.jsonl");
const examples = [0, 1, 2, 3].map((i) => ({
  ...{ id: `e${i}`, prompt: `Compute ${i} + 1.`, expected_answer: i + 1 },
  topic: i < 2 ? "low" : "high",
}));
writeFileSync(dataset, examples.map((one) => `${JSON.stringify(one)}\n`).join(""));

const specOf = (more: object = {}) =>
  matrixSpecSchema.parse({
    dataset,
    prompts: { plain: null, careful: { system: "Think first." } },
    models: { one: "one", two: "two" },
    ...more,
  });

/** Right where it is told to think. */
class Told implements Policy {
  readonly identity;
  readonly prompt;
  readonly sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 8, stop: [], seed: 0 };
  readonly #thinks: boolean;

  constructor({ prompt, model }: Cell) {
    this.identity = { kind: "told", name: model };
    this.prompt = { system: prompt };
    this.#thinks = prompt === "careful";
  }

  async *sample(
    requests: Iterable<SampleRequest>,
  ): AsyncGenerator<readonly [SampleRequest, SampledCompletion]> {
    for (const request of requests) {
      const right = Number(request.example.expected_answer);
      yield [
        request,
        {
          completion: `Final: ${this.#thinks ? right : -1}`,
          ...{ finish: "stop" as const, prompt_tokens: 3, completion_tokens: 3 },
          ...{ logprobs: null, sampled_logprobs: null },
        },
      ];
    }
  }

  async close(): Promise<void> {}
}

async function run(outdir: string, spec = specOf()) {
  const scorer = await openScorer(undefined, { timeoutMs: 1000 });
  const sampled: number[] = [];
  const cells = await runMatrix({
    ...{ spec, outdir, scorer },
    openPolicy: async (cell) => new Told(cell),
    onCell: (cell) => sampled.push(cell.sampled),
  });
  await scorer.close();
  return { cells, sampled };
}

const summaryOf = ({ run: dir }: Cell) =>
  JSON.parse(readFileSync(path.join(dir, "summary.json"), "utf8"));

test("every prompt meets every model; what is finished is kept, and a changed question is scored again", async () => {
  const outdir = path.join(root, "kept");
  const { cells, sampled } = await run(outdir);
  expect(cells.map(({ name }) => name)).toEqual([
    ...["plain.one", "plain.two", "careful.one", "careful.two"],
  ]);
  expect(sampled).toEqual([4, 4, 4, 4]);
  expect(cells.map((cell) => summaryOf(cell).metrics.pass_rate)).toEqual([0, 0, 1, 1]);

  const written = cells.map((cell) => statSync(path.join(cell.run, "summary.json")).mtimeMs);
  expect((await run(outdir)).sampled).toEqual([0, 0, 0, 0]);
  expect(cells.map((cell) => statSync(path.join(cell.run, "summary.json")).mtimeMs)).toEqual(
    written,
  );

  const sliced = await run(outdir, specOf({ slice: ["topic"] }));
  expect(sliced.sampled, "the samples are the same").toEqual([0, 0, 0, 0]);
  expect(summaryOf(cells[2] as Cell).slices.topic).toMatchObject([
    { value: "high", n_pass: 2 },
    { value: "low", n_pass: 2 },
  ]);
});

test("several samples are scored as repeats", async () => {
  const { cells, sampled } = await run(path.join(root, "repeats"), specOf({ n: 2 }));
  expect(sampled).toEqual([8, 8, 8, 8]);
  expect(summaryOf(cells[3] as Cell).metrics).toMatchObject({ repeats: 2, n_pass: 8 });
});

test("the baseline is the first cell unless the file names one that exists", () => {
  const cells = cellsOf(specOf(), "m");
  expect(baselineOf(specOf(), cells).name).toBe("plain.one");
  expect(baselineOf(specOf({ baseline: "careful.two" }), cells).run).toBe("m/careful.two/run");
  expect(() => baselineOf(specOf({ baseline: "careful.three" }), cells)).toThrow(
    "the matrix has no cell careful.three",
  );
});

test("with axes each cell is measured on them; another list of axes measures again", async () => {
  const outdir = path.join(root, "axes");
  const summaryAt = (cell: Cell | undefined) =>
    JSON.parse(readFileSync(path.join(cell?.run ?? "", "summary.json"), "utf8"));
  const once = async (axes: readonly string[]) => {
    const scorer = await openScorer(undefined, { timeoutMs: 1000 });
    const cells = await runMatrix({
      ...{ spec: specOf(), outdir, scorer, axes: axes.map((name) => ({ name })) },
      openPolicy: async (cell) => new Told(cell),
    });
    await scorer.close();
    return summaryAt(cells[0]).axes;
  };
  expect(Object.keys(await once(["safety"]))).toEqual(["safety"]);
  expect(Object.keys(await once(["safety", "verbosity"]))).toEqual(["safety", "verbosity"]);
  expect(await once([])).toBeUndefined();
});
