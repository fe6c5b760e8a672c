/** The weekly scoreboard: figures come from runs, links lead somewhere, nothing is lost. */

import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { api, describeRun, EXIT, expectError, Workspace } from "./cli.ts";
import { PlanRoom, tooWide } from "./course-room.ts";

/** A room with an evaluation, two selections that pair, and a sweep of the leash. */
let room: PlanRoom;
beforeAll(async () => {
  room = await PlanRoom.make();
  await room.evaluate("runs/first");
  await room.select("runs/one", 1);
  await room.select("runs/four", 4);
  await room.well("kl-tradeoff-demo", "--outdir", "runs/kl");
});

const rowsOf = (run: string) => room.readRun(run).rows;
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const add = (week: number, ...flags: string[]) =>
  room.run(["scoreboard", "add", "--week", String(week), ...flags]);

async function added(week: number, ...flags: string[]) {
  const result = await add(week, ...flags);
  expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok, stderr: "" });
  expect(tooWide(result.stdout)).toEqual([]);
  const file = `scoreboard/week-${String(week).padStart(2, "0")}.json`;
  return { ...JSON.parse(room.read(file)), stdout: result.stdout };
}

describe.concurrent("figures", () => {
  test("are those of the run's rows, counted by another hand", async () => {
    const { metrics, days, stdout } = await added(11, "--run", "runs/first");
    const rows = rowsOf("runs/first");
    const of = (code: string) => rows.filter((row) => row.outcome_code === code).length;
    expect(days).toEqual([71, 77]);
    expect(metrics.success).toBe(rows.filter(({ reward }) => reward === 1).length / rows.length);
    expect(metrics.hallucination_proxy).toEqual({
      value: of("wrong_answer") / (of("wrong_answer") + of("ok")),
      from: "wrong answers among those that keep the format",
    });
    const lengths = rows.map(({ completion }) => Array.from(completion ?? "").length);
    expect(metrics.mean_length).toBeCloseTo(mean(lengths), 12);
    const drifts = rows.flatMap(({ sum_logprob: log, sum_ref_logprob: reference }) =>
      log === undefined || reference === undefined ? [] : [log - reference],
    );
    expect(metrics.kl.from).toContain(`${drifts.length} of ${rows.length} rows`);
    expect(metrics.kl.value).toBeCloseTo(mean(drifts), 10);
    expect(metrics.cost).toEqual({
      seconds: room.readRun("runs/first").manifest.volatile.seconds,
      ...{ tokens: null, money: null, unpriced: 0 },
    });
    expect(metrics.format_drift).toBeNull();
    expect(stdout).toMatch(/format drift +not measured/);
  });

  test("of drift need a baseline of the same room", async () => {
    const { metrics } = await added(12, "--run", "runs/four", "--baseline", "runs/one");
    const share = (run: string) =>
      mean(rowsOf(run).map(({ outcome_code: code }) => (/^(ok|wrong_answer)$/.test(code) ? 0 : 1)));
    expect(metrics.format_drift).toBeCloseTo(share("runs/four") - share("runs/one"), 12);
    expect(metrics.kl).toBeNull();
    expectError(
      await add(13, "--run", "runs/kl", "--baseline", "runs/one"),
      EXIT.data,
      /other examples/,
    );
    expectError(await add(13, "--baseline", "runs/one"), EXIT.usage, "--run");
  });

  test("of a sweep: the largest KL; outcome classes that nobody knows are not measured", async () => {
    const { metrics } = await added(14, "--run", "runs/kl");
    const drifts = rowsOf("runs/kl").map(({ details }) => (details as { kl: number }).kl);
    expect(metrics.kl.value).toBe(Math.max(...drifts));
    expect(metrics.hallucination_proxy).toBeNull();
  });

  test("without a run are not measured, and never 0", async () => {
    const { metrics, stdout } = await added(15);
    expect(Object.values(metrics)).toEqual(Array(8).fill(null));
    expect(stdout.match(/not measured/g)).toHaveLength(8);
  });
});

describe.concurrent("skills and words", () => {
  test.each([
    ["math=3", /link to an artifact/],
    ["math=6:notes", /0 to 5/],
    ["math=-1:notes", /0 to 5/],
    ["math=2.5:notes", /0 to 5/],
    ["maths=3:notes", /math, algorithms/],
    ["math=3:notes/gone.md", /no file or folder/],
    ["math", /NAME=SCORE:PATH/],
  ])("%s is refused", async (skill, says) => {
    expectError(await add(22, "--skill", skill), EXIT.usage, says);
    expect(room.has("scoreboard/week-22.json")).toBe(false);
  });

  test("are recorded with their links, from wherever the person stands", async () => {
    const below = Object.assign(Object.create(room), { dir: room.path("notes") }) as PlanRoom;
    room.write("notes/kl.md", "KL\n");
    const flags = ["--skill", "math=3:kl.md", "--skill", "research_taste=0:../runs/kl"];
    const result = await below.run([
      ...["scoreboard", "add", "--week", "23", ...flags, "--theory", "kl.md"],
      ...["--failure", "one", "--failure", "two", "--fix", "three"],
    ]);
    expect(result, describeRun(result)).toMatchObject({ code: EXIT.ok });
    expect(JSON.parse(room.read("scoreboard/week-23.json"))).toMatchObject({
      skills: {
        math: { score: 3, path: "notes/kl.md" },
        research_taste: { score: 0, path: "runs/kl" },
      },
      shipped: { theory: "notes/kl.md", build: null },
      failures: ["one", "two"],
      fixes: ["three"],
    });
    expect(result.stdout).not.toContain("!");
  });

  test("fewer than two failures or no fix are warned of", async () => {
    const { stdout } = await added(24, "--failure", "one");
    expect(stdout).toMatch(/! week 24: failures 1 of 2 .*fixes 0 of 1/);
  });

  test("the matrix explains every score", async () => {
    const { stdout, code } = await new Workspace().run(["scoreboard", "show", "--skills"]);
    expect(code).toBe(EXIT.ok);
    expect(stdout.match(/^ {2}[0-5] {2}\S/gm)).toHaveLength(36);
    expect(tooWide(stdout)).toEqual([]);
  });

  test("a flag of the other action, no week, a week that is none", async () => {
    const show = ["scoreboard", "show"];
    expectError(await room.run([...show, "--run", "runs/kl"]), EXIT.usage, "scoreboard add");
    expectError(await room.run(["scoreboard", "add"]), EXIT.usage, "--week");
    for (const week of ["0", "100", "1.5", "x"])
      expectError(await room.run(["scoreboard", "add", "--week", week]), EXIT.usage, "--week");
  });
});

describe.concurrent("a week that is there", () => {
  test("is not replaced without --force, and then kept", async () => {
    await added(31, "--failure", "the first");
    const first = room.read("scoreboard/week-31.json");
    expectError(await add(31), EXIT.usage, "--force", "week-31");
    expect(room.read("scoreboard/week-31.json")).toBe(first);
    await added(31, "--force", "--failure", "the second");
    await added(31, "--force");
    expect(room.read("scoreboard/week-31.kept-1.json")).toBe(first);
    expect(room.read("scoreboard/week-31.kept-2.json")).toContain("the second");
    expect(readdirSync(room.path("scoreboard")).filter((name) => /partial/.test(name))).toEqual([]);
  });

  test("survives two writers: one wins, the other is told", async () => {
    const both = await Promise.all([add(32, "--failure", "a"), add(32, "--failure", "b")]);
    expect(both.map(({ code }) => code).sort()).toEqual([EXIT.ok, EXIT.usage]);
  });
});

describe("trainings and rollouts", () => {
  let place: PlanRoom;
  const sampled = { prompt: 0, completion: 0 };
  beforeAll(async () => {
    place = room.copy();
    const train = "data/datasets/math_train.jsonl";
    place.jsonl(
      "few.jsonl",
      place
        .read(train)
        .split("\n")
        .slice(0, 8)
        .map((line) => JSON.parse(line)),
    );
    const data = ["--dataset", "few.jsonl", "--init", "pi0"];
    const small = ["--steps", "2", "--set", "rollouts.prompts=2", "--set", "rollouts.group=2"];
    const dev = ["--dev", "data/datasets/math_dev.jsonl", "--eval-every", "2", "--quiet"];
    await place.well("train", "grpo", ...data, ...small, ...dev, "--outdir", "runs/grpo");
    const rollout = ["--policy", "pi0", "--dataset", "few.jsonl", "--n", "1", "--quiet"];
    const prices = ["--price-in", "2", "--price-out", "10"];
    await place.well(
      "rollout",
      ...rollout,
      ...prices,
      "--max-tokens",
      "16",
      "--outdir",
      "runs/samples",
    );
    const { cost } = JSON.parse(place.read("runs/samples/summary.json"));
    Object.assign(sampled, { prompt: cost.prompt_tokens, completion: cost.completion_tokens });
  }, 300_000);

  test("give KL, tokens and money; a changed run is noticed", async () => {
    const parts = ["--train", "runs/grpo", "--rollout", "runs/samples", "--price-per-hour", "3600"];
    const flags = ["--run", "runs/first", "--failure", "first bad", "--failure", "second bad"];
    await place.well("scoreboard", "add", "--week", "1", ...flags, "--fix", "mended", ...parts);
    const { metrics } = JSON.parse(place.read("scoreboard/week-01.json"));
    const lines = (name: string) =>
      place
        .read(`runs/grpo/${name}.jsonl`)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    const trained = lines("metrics").reduce((sum, row) => sum + row.tokens + row.sampled_tokens, 0);
    expect(metrics.cost.tokens).toBe(trained + sampled.prompt + sampled.completion);
    const seconds = lines("timing").reduce(
      (sum, row) =>
        sum + row.sampling_s + row.scoring_s + row.logprobs_s + row.updating_s + row.evaluating_s,
      0,
    );
    const money = seconds + (2 * sampled.prompt + 10 * sampled.completion) / 1e6;
    expect(metrics.cost.money).toBeCloseTo(money, 6);
    expect(metrics.kl.value).toBe(lines("evaluations").at(-1).kl_exact);
    expect(metrics.kl.from).toContain("runs/grpo");

    const board = await place.well("scoreboard", "show");
    expect(board).toMatch(/failure {2}first bad\n {2}failure {2}second bad\n {2}fix {6}mended/);
    expect(board).not.toMatch(/^! week 1:/m);
    expect(tooWide(board)).toEqual([]);
    const block = await place.well("scoreboard", "show", "--text", "--week", "1");
    expect(tooWide(block)).toEqual([]);
    for (const field of FIELDS) expect(block).toContain(field);
    expect(block).toContain(`${metrics.cost.tokens} tokens`);
    expect(block).toMatch(/^- second bad$/m);

    place.edit("runs/grpo/metrics.jsonl", '"tokens":', '"tokens":1');
    expect(await place.well("scoreboard", "show")).toMatch(/! week 1: runs\/grpo is not evidence/);
  });

  test("that are none are refused", async () => {
    const add = (...flags: string[]) => place.run(["scoreboard", "add", "--week", "9", ...flags]);
    expectError(await add("--train", "runs/first"), EXIT.data, "runs/first");
    expectError(await add("--rollout", "runs/first"), EXIT.data, "runs/first");
    expectError(await add("--price-per-hour", "2"), EXIT.usage, "--train");
    expect(place.has("scoreboard/week-09.json")).toBe(false);
  });
});

/** The fields of the block, in its order. */
const FIELDS = [
  ...["Week 1 (Days 1-7)", "Build shipped: N", "Theory compression shipped: N"],
  ...["Eval/ablation shipped: N", "Blog shipped: N", "Key metrics:", "- Main task success: "],
  ...["- Safety/refusal drift: ", "- Hallucination proxy: ", "- Avg output length: "],
  ...["- KL (to reference): ", "- Cost estimate ($ or tokens): "],
  ...["Failures discovered (>=2):", "Fixes validated (>=1):", "Skill scores (0-5):"],
  "Math __ | Algorithms __ | Systems __ | Debugging __ | Evals __ | Taste __",
];

test("a week of the first version is read, with what it did not know not measured", async () => {
  const place = room.copy();
  rmSync(place.path("scoreboard"), { recursive: true, force: true });
  await place.well("scoreboard", "add", "--week", "1", "--run", "runs/first");
  const week = JSON.parse(place.read("scoreboard/week-01.json"));
  const { parts: _parts, price_per_hour: _price, metrics, ...rest } = week;
  const { safety_drift: _s, refusal_drift: _r, hallucination_proxy: proxy, cost, ...old } = metrics;
  const first = {
    ...{ ...rest, schema: "lockedroom.scoreboard@1" },
    metrics: {
      ...{ ...old, hallucination_proxy: proxy.value },
      cost: { value: cost.seconds, unit: "seconds" },
    },
  };
  place.write("scoreboard/week-01.json", JSON.stringify(first));
  const shown = JSON.parse(await place.well("scoreboard", "show", "--format", "json"));
  expect(shown.weeks).toEqual([week]);
  expect(shown.warnings.map(({ warning }: { warning: string }) => warning)).toEqual([
    "failures 0 of 2 (--failure), fixes 0 of 1 (--fix)",
  ]);
});

describe("show", () => {
  const fresh = async () => {
    const place = await PlanRoom.make();
    for (const name of ["first", "one", "four"])
      for (const [part, content] of Object.entries(room.snapshot(`runs/${name}`)))
        place.write(`runs/${name}/${part}`, Buffer.from(content, "latin1"));
    return place;
  };

  test("no week yet: a next step, and no chart", async () => {
    const place = await PlanRoom.make();
    const result = await place.run(["scoreboard"]);
    expect(result).toMatchObject({ code: EXIT.ok, stderr: "" });
    expect(result.stdout).toMatch(/No weeks yet/);
    expect(result.stdout).toMatch(/lockedroom\s+scoreboard add --week 1/);
    expect(place.has("scoreboard")).toBe(false);
  });

  test("table, trends, sparklines and pictures; edits and losses are named", async () => {
    const place = await fresh();
    await place.well(
      "scoreboard",
      "add",
      "--week",
      "1",
      "--run",
      "runs/first",
      "--build",
      "runs/four",
    );
    const second = ["--run", "runs/four", "--baseline", "runs/one", "--skill", "math=2:runs/one"];
    await place.well("scoreboard", "add", "--week", "3", ...second);
    const { stdout, code, stderr } = await place.run(["scoreboard", "show"]);
    expect({ code, stderr }).toEqual({ code: EXIT.ok, stderr: "" });
    expect(tooWide(stdout)).toEqual([]);
    const success = place.readRun("runs/first").summary.metrics.pass_rate?.toFixed(4);
    expect(stdout).toMatch(new RegExp(`^ +1 +Y N N N +${success} +n/m`, "m"));
    // Week 1 was measured in another room: no line joins it with week 3.
    expect(stdout).not.toMatch(/^success/m);
    expect(stdout).toContain("scoreboard/trends.svg and scoreboard/trends.png");
    const svg = place.read("scoreboard/trends.svg");
    for (const word of ["success", "format drift", "mean length", "KL", "math"])
      expect(svg).toContain(word);
    expect(await api.toPng(svg)).toBeInstanceOf(Uint8Array);

    await place.well("scoreboard", "add", "--week", "5", "--run", "runs/four");
    const joined = (await place.run(["scoreboard", "show"])).stdout;
    expect(joined).toMatch(/^success +··[▁-█]·[▁-█] {2}/m);
    rmSync(place.path("scoreboard/week-05.json"));

    const week = place.read("scoreboard/week-03.json");
    place.write("scoreboard/week-03.json", week.replace(/"success": [\d.]+/, '"success": 0.999'));
    expect((await place.run(["scoreboard"])).stdout).toMatch(/! week 3: .*other figures/);
    place.write("scoreboard/week-03.json", week);
    rmSync(place.path("runs/one"), { recursive: true });
    const lost = await place.run(["scoreboard", "show", "--format", "json"]);
    const { warnings, weeks, charts } = JSON.parse(lost.stdout);
    expect(weeks.map((one: { week: number }) => one.week)).toEqual([1, 3]);
    expect(charts).toHaveLength(2);
    const said = warnings.map(({ warning }: { warning: string }) => warning).join("\n");
    expect(said).toContain("runs/one, linked as math");
    expect(said).toMatch(/there is no run at .*runs\/one/);
  });

  test("figures without a run are reported", async () => {
    const place = await PlanRoom.make();
    await place.well("scoreboard", "add", "--week", "1");
    const typed = place
      .read("scoreboard/week-01.json")
      .replace('"success": null', '"success": 0.9');
    place.write("scoreboard/week-01.json", typed);
    expect((await place.run(["scoreboard"])).stdout).toContain("has figures but no run");
  });

  test.each([
    ["cut off", '{"schema":', /damaged/],
    ["another week's", undefined, /another week/],
    ["in conflict", "<<<<<<< HEAD\n{}\n=======\n", /merge conflict/],
  ])("a week file %s is refused by name, and left", async (_, text, says) => {
    const place = await PlanRoom.make();
    await place.well("scoreboard", "add", "--week", "1");
    const content = text ?? place.read("scoreboard/week-01.json");
    place.write("scoreboard/week-02.json", content);
    expectError(await place.run(["scoreboard"]), EXIT.data, "week-02.json", says);
    expect(place.read("scoreboard/week-02.json")).toBe(content);
  });

  test("a folder that is a link is not written through", async () => {
    const place = await PlanRoom.make();
    const outside = new Workspace();
    mkdirSync(outside.path("board"));
    symlinkSync(outside.path("board"), place.path("scoreboard"));
    const result = await place.run(["scoreboard", "add", "--week", "1"]);
    expectError(result, EXIT.usage, "scoreboard");
    expect(readdirSync(outside.path("board"))).toEqual([]);
  });
});
