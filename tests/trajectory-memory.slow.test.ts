/** Export and import hold one task in memory, however long the file. */

import { once } from "node:events";
import { createWriteStream, statSync } from "node:fs";
import { expect, test } from "vitest";
import { EXIT, Workspace } from "./cli.ts";

const SAMPLES = 4;

/** About one and a half kilobytes, as a game of three turns has. */
function line(i: number): string {
  const [id, sample] = [`task-${Math.floor(i / SAMPLES)}`, i % SAMPLES];
  const tokens = Array.from({ length: 18 }, (_, at) => (i + at) % 97);
  const messages = [0, 1, 2].flatMap((turn) => [
    { role: "user", content: `_|2|_|4\n_|_|_|_\n${i}|${turn}|_|_\n` },
    {
      role: "assistant",
      content: "<move>left</move>",
      sampled: {
        token_ids: tokens,
        logprobs: tokens.map((token) => -token / 128),
        ...{ finish: "stop", prompt_tokens: 24, completion_tokens: tokens.length },
      },
      reward: turn === 2 ? 1 : 0,
    },
  ]);
  return JSON.stringify({
    ...{ id, sample, address: [0, "episode", id, sample], messages },
    segments: [0, 1, 2].map(() => ({ tokens: [1, 2, 3, ...tokens], actions: [[3, 21]] })),
    ...{ reward: 1, code: "won", terminated: true, metrics: { turns: 3 }, metadata: {}, logs: [] },
  });
}

async function writeTrajectories(file: string, count: number): Promise<void> {
  const stream = createWriteStream(file);
  for (let i = 0; i < count; i++) if (!stream.write(`${line(i)}\n`)) await once(stream, "drain");
  stream.end();
  await once(stream, "finish");
}

/** The peak of the child's memory in MiB. */
async function peakOf(w: Workspace, args: readonly string[]): Promise<number> {
  const report = `import { writeFileSync } from "node:fs";
process.on("exit", () => writeFileSync("peak", String(process.resourceUsage().maxRSS / 1024)));`;
  w.write("peak.mjs", report);
  const env = { NODE_OPTIONS: `--import ${w.path("peak.mjs")}` };
  const result = await w.run(args, { env, limitMs: 280_000 });
  expect(result, result.stderr).toMatchObject({ code: EXIT.ok });
  return Number(w.read("peak"));
}

test("100,000 trajectories take little more memory than 10,000, out and in", {
  timeout: 600_000,
}, async () => {
  const w = new Workspace();
  const peaks: Record<string, number> = {};
  for (const count of [10_000, 100_000]) {
    await writeTrajectories(w.path("t.jsonl"), count);
    const [outfile, outdir] = [`${count}.jsonl`, `in-${count}`];
    const to = ["--format", "art", "--outfile", outfile, "--quiet"];
    peaks[`export ${count}`] = await peakOf(w, ["export", "trajectories", "t.jsonl", ...to]);
    const from = ["--format", "art", "--outdir", outdir, "--quiet"];
    peaks[`import ${count}`] = await peakOf(w, ["import", "trajectories", outfile, ...from]);
  }
  // The files grow by much more than the allowance for the garbage collector.
  const more = statSync(w.path("100000.jsonl")).size - statSync(w.path("10000.jsonl")).size;
  expect(more / 2 ** 20).toBeGreaterThan(200);
  for (const what of ["export", "import"]) {
    expect(peaks[`${what} 100000`]).toBeLessThan((peaks[`${what} 10000`] ?? 0) + 64);
  }
  expect(w.read("in-100000", "trajectories.jsonl").split("\n")).toHaveLength(100_001);
});
