// `npm run bench:graders`: evaluation with a grader relative to the built-in scorer on the same files.
// Both are processes timed alternately within this run.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../dist/cli/bin.js", import.meta.url));
const work = mkdtempSync(path.join(tmpdir(), "lockedroom-bench-"));
const ROWS = process.env.LOCKEDROOM_BENCH_SMALL ? 10_000 : 100_000;
const REPEATS = 7;
const LIMIT = 1.5;

const TEXTS = { input: "{{sample.output_text}}", reference: "Final: {{item.expected_answer}}" };
const EXACT = { type: "string_check", name: "exact", operation: "eq", ...TEXTS };
const NEAR = { type: "text_similarity", name: "near", ...TEXTS, evaluation_metric: "fuzzy_match" };
const GRADERS = {
  string_check: EXACT,
  fuzzy_match: NEAR,
  multi: {
    ...{ type: "multi", name: "mix", graders: { exact: EXACT, near: NEAR } },
    calculate_output: "0.9*exact + 0.1*near",
  },
};

/** Loaded into a measured process: writes its processor time when it ends. */
const CLOCK = `import { writeFileSync } from "node:fs";
process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeFileSync("seconds", String((user + system) / 1e6));
});`;

try {
  makeFiles();
  const ratios = Object.fromEntries(Object.keys(GRADERS).map((name) => [name, []]));
  for (let i = 0; i < REPEATS; i++) {
    const floor = timed();
    for (const name of Object.keys(GRADERS)) ratios[name].push(timed(name) / floor);
  }
  for (const [name, found] of Object.entries(ratios)) {
    const value = Math.round(median(found) * 100) / 100;
    const limited = name === "string_check";
    const over = limited && value > LIMIT;
    if (over) process.exitCode = 1;
    const limit = limited ? `  limit ${LIMIT}` : "";
    console.log(`${over ? "OVER" : "ok  "} eval with ${name} / built-in scorer  ${value}${limit}`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function makeFiles() {
  const rows = Array.from({ length: ROWS }, (_, i) => ({ a: i % 97, b: i % 89, id: `ex-${i}` }));
  const examples = rows.map(({ a, b, id }) => ({
    ...{ expected_answer: a + b, id, metadata: { kind: "addition" } },
    prompt: `Compute ${a} + ${b}. Reply: Final: <int>`,
  }));
  const completions = rows.map(({ a, b, id }, i) => ({
    ...{ completion: `Final: ${i % 3 === 2 ? a : a + b}`, id, sum_logprob: -1.25 },
  }));
  const write = (name, lines) =>
    writeFileSync(path.join(work, name), lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  write("dataset.jsonl", examples);
  write("completions.jsonl", completions);
  for (const [name, grader] of Object.entries(GRADERS)) write(`${name}.json`, [grader]);
  writeFileSync(path.join(work, "clock.mjs"), CLOCK);
}

/** Seconds of processor time, which others on the machine disturb less than the clock. */
function timed(grader) {
  const outdir = path.join(work, "run");
  const flags = ["--dataset", "dataset.jsonl", "--completions", "completions.jsonl"];
  const scorer = grader ? ["--scorer", `${grader}.json`] : [];
  const args = [cli, "eval", "--quiet", ...flags, "--outdir", outdir, ...scorer];
  const clock = path.join(work, "clock.mjs");
  const { status, stderr } = spawnSync(process.execPath, ["--import", clock, ...args], {
    ...{ cwd: work, encoding: "utf8" },
  });
  if (status !== 0) throw new Error(stderr);
  rmSync(outdir, { recursive: true });
  return Number(readFileSync(path.join(work, "seconds"), "utf8"));
}

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
