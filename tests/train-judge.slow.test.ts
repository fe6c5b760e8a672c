/** `train --judge` as a person uses it, with the embedded judge over HTTP. */

import { describe, expect, test } from "vitest";
import { describeRun, EXIT, expectError, Workspace } from "./cli.ts";

const room = new Workspace();
const TINY = [
  ...["--init", "pi0", "--env", "arithmetic", "--steps", "2", "--eval-every", "2", "--quiet"],
  ...["--set", "evaluate.tasks=8", "--set", "rollouts.prompts=2", "--set", "rollouts.group=4"],
];
const judged = (outdir: string, ...more: string[]) =>
  room.run(["train", "grpo", ...TINY, "--judge", "embedded", "--outdir", outdir, ...more]);
const manifestOf = (run: string) => JSON.parse(room.read(`${run}/manifest.json`));

describe("a training with the embedded judge", () => {
  test("records the judge, its price and its traffic; from the cache it has the same bytes", async () => {
    const first = await judged("first", "--judge-price", "0.4,1.6");
    expect(first, describeRun(first)).toMatchObject({ code: EXIT.ok });
    const manifest = manifestOf("first");
    expect(manifest).toMatchObject({
      scorers: [
        {
          role: "reward",
          identity: { kind: "judge", name: "embedded-judge", endpoint: "embedded" },
        },
      ],
      judge: { dropped_limit: 0.1, price: { prompt: 0.4, completion: 1.6 } },
    });
    // Two groups of each step, and eight validation tasks twice.
    expect(manifest.volatile.judge.requests).toBeGreaterThan(0);
    const second = await room.run([
      ...["train", "grpo", ...TINY.filter((one) => one !== "--quiet")],
      ...["--judge", "embedded", "--judge-price", "0.4,1.6", "--outdir", "second"],
    ]);
    expect(second, describeRun(second)).toMatchObject({ code: EXIT.ok });
    expect(second.stderr).toMatch(/win rate\s+judge\s+0.500,\s+labels\s+0.500/);
    expect(second.stdout).toMatch(
      /judge +\d+ groups, 0 dropped; \d+ tokens read, \d+ written, \$0/,
    );
    expect(manifestOf("second").volatile.judge.requests).toBe(0);
    for (const file of ["metrics", "evaluations", "samples", "baseline", "states"])
      expect(room.read(`second/${file}.jsonl`)).toBe(room.read(`first/${file}.jsonl`));
  });

  test("is made again by verify", async () => {
    const verified = await room.run(["verify", "first", "--train"]);
    expect(verified, describeRun(verified)).toMatchObject({ code: EXIT.ok });
    expect(verified.stdout).toMatch(/train +the same +2 of 2/);
  });

  test("is not resumed with another rubric, and not verified where the endpoint is another", async () => {
    room.write("rubric.md", "- It is at most 60 words long.\n");
    const other = await judged("first", "--rubric", "rubric.md", "--resume");
    expectError(other, EXIT.usage, /was started with|finished/);
    const manifest = manifestOf("first");
    manifest.scorers[0].identity.endpoint = "https://judge.example/v1";
    room.write("moved/manifest.json", JSON.stringify(manifest));
    for (const file of ["metrics", "evaluations", "samples", "alarms", "timing", "states"])
      room.write(`moved/${file}.jsonl`, room.read(`first/${file}.jsonl`));
    room.write("moved/summary.json", room.read("first/summary.json"));
    const verified = await room.run(["verify", "moved", "--only", "train", "--train"]);
    expect(verified.stdout).toMatch(/train +not possible[\s\S]*judge has no key/);
  });

  test("may be swept over", async () => {
    const done = await room.run([
      ...["sweep", "grpo", ...TINY, "--judge", "embedded", "--over", "rate.peak=0,0.001"],
      ...["--outdir", "sweep"],
    ]);
    expect(done, describeRun(done)).toMatchObject({ code: EXIT.ok });
    expect(JSON.parse(room.read("sweep/sweep.json")).points).toHaveLength(2);
  });
});

test("--judge is refused with a scorer as well", async () => {
  const done = await room.run([
    ...["train", "grpo", "--dataset", "x.jsonl", "--scorer", "math_final_line"],
    ...["--judge", "embedded", "--outdir", "refused"],
  ]);
  expectError(done, EXIT.usage, /both given for the reward/);
});

test("options of a judge need one", async () => {
  const done = await room.run([
    ...["train", "grpo", "--env", "arithmetic", "--rubric", "rubric.md", "--outdir", "refused"],
  ]);
  expectError(done, EXIT.usage, /--rubric is about a judge/);
});
