/** Level 0.5: selection is not learning, and must be deterministic. */

import { type Rng, rngAt } from "../../core/index.ts";
import { pickBest, type ScoredSample } from "../../loops/index.ts";
import type { ResultRow } from "../../runs/index.ts";
import { type CheckContext, ensure } from "../check-context.ts";
import { checkOrder, checkShipped, DEV, PACK, repeatSelection, selectionRun } from "../evidence.ts";
import { checkTests, committedFile, hiddenSeed } from "../learner-code.ts";
import type { LevelDefinition } from "../level.ts";
import { selectCommand } from "../run-commands.ts";
import { runNoteCheck, runNoteTask } from "../run-note-check.ts";

const POLICY = "assignments/selection_policy.ts";
const TEST = "tests/selection_policy.test.ts";
const BUILT = "l0_5_build_sel_n4";
const RANDOM = [1, 2, 3, 4, 5].map((i) => `l0_5_sabotage_sel_random_${i}`);
const FIXED = ["l0_5_fixed_sel_n4", "l0_5_fixed_sel_n4_again"];

const select = (run: string, indent?: string) => selectCommand(4, run, indent);
const FIVE_TIMES = `for i in 1 2 3 4 5; do\n${select("l0_5_sabotage_sel_random_$i", "  ")}\ndone`;

/** The SHA-256 of each results.jsonl, numbered. Node has fs and crypto at hand with -p. */
const hashes = (numbers: string, run: string, label = "run $i") =>
  `for i in ${numbers}; do\n  node -p "'${label}  ' + crypto.createHash('sha256').update(\n    fs.readFileSync('runs/${run}/results.jsonl')\n  ).digest('hex')"\ndone`;
const RANDOM_HASHES = hashes("1 2 3 4 5", "l0_5_sabotage_sel_random_$i");
/** What differs in the names of the fixed runs. */
const FIXED_NAMES = ["n4", "n4_again"];
const FIXED_HASHES = hashes(FIXED_NAMES.join(" "), "l0_5_fixed_sel_$i", "$i");

const RULE =
  "among equal rewards prefer the higher sum_logprob, then the shorter completion, then the first text in order. A sample without sum_logprob comes after those that have one.";

export const LEVEL_0_5: LevelDefinition = {
  id: "0.5",
  title: "Selection is not learning",
  loop: "B",
  wrong: "Best of four is better than best of one, so the model learned.",
  right:
    "Loop B changes which sample is selected. The distribution that the samples come from stays the same; the improvement costs compute.",
  commits: [
    { name: "build", file: `runs/${BUILT}/manifest.json` },
    {
      name: "sabotage",
      file: POLICY,
      first:
        "Make tieBreakKey in assignments/selection_policy.ts random: [Math.random(), sample.completion].",
    },
    { name: "fix", file: POLICY, first: "Write the deterministic tie-break and its tests." },
  ],
  budget: { change: [POLICY, TEST], add: ["tests/"] },
  evidence: [...[BUILT, ...RANDOM, ...FIXED].map((name) => `runs/${name}/`), POLICY, TEST],
  stages: {
    Build: {
      text: "Run best of four with the shipped tie-break: the first sample wins.",
      commands: [select(BUILT), `./lockedroom inspect-run --run runs/${BUILT} --top-k 5 --show 1`],
    },
    Sabotage: {
      text: `Make tieBreakKey in ${POLICY} random, [Math.random(), sample.completion], commit it, and run the same command five times.`,
      commands: ['git commit -am "L0.5 sabotage"', FIVE_TIMES],
    },
    Reflect: {
      text: "Same command, same data: compare the SHA-256 of the five results, and read the alarm in the summaries.",
      commands: [RANDOM_HASHES],
    },
    "Repair and lock": {
      text: "Write the deterministic tie-break, commit it, run it twice, compare the hashes.",
      commands: [
        'git add -A && git commit -m "L0.5 fix"',
        select(FIXED[0] as string),
        select(FIXED[1] as string),
        FIXED_HASHES,
        "npm test",
        'git add -A && git commit -m "L0.5 fix, with its runs"',
      ],
    },
  },
  tasks: [
    `${POLICY}: ${RULE}`,
    `${TEST}: one test that repeated calls select the same sample, and one for each rule of the tie-break; at least three.`,
    runNoteTask(RANDOM[0] as string, BUILT),
  ],
  checklist: [
    "How can Loop B improve outputs without changing the policy's distribution?",
    "Which knob did the sabotage change, and which hashes prove it?",
    "Why must selection be deterministic in production?",
  ],
  checks: [
    {
      id: "build",
      title: `runs/${BUILT}: a repeatable best of four`,
      next: select(BUILT),
      run: async (context) => {
        await checkShipped(context, DEV);
        await checkShipped(context, PACK);
        const { run } = await repeatSelection(context, BUILT, 4);
        return `pass@n ${run.summary.metrics.pass_at_n?.toFixed(4)}, the same when repeated`;
      },
    },
    "build",
    "sabotage",
    {
      id: "sabotage",
      title: "five sabotage runs with five different hashes",
      next: `With the random tieBreakKey committed:\n${FIVE_TIMES}`,
      run: checkVariance,
    },
    {
      id: "random-policy",
      title: "their tie-break is not deterministic",
      next: `Make tieBreakKey in ${POLICY} random, commit it, and run the five again with --force.`,
      run: checkRandom,
    },
    runNoteCheck(RANDOM[0] as string, BUILT),
    {
      id: "tie-break",
      title: `${POLICY} breaks ties by log-prob, length, text`,
      next: `Write the deterministic tie-break in ${POLICY}: ${RULE}`,
      run: checkTieBreak,
    },
    {
      id: "tests",
      title: `${TEST} passes, and fails on a wrong tie-break`,
      next: `Write ${TEST} with at least three tests: one that repeated calls give the same key, and one for each rule of the tie-break.`,
      run: (context) =>
        checkTests(context, TEST, 3, [
          mutant("the tie-break is random", "() => [Math.random()]", 3),
          mutant(
            "the order is reversed",
            "(sample) => original.tieBreakKey(sample).map((x) => (typeof x === 'number' ? -x : x))",
          ),
          mutant("the first sample always wins", "(sample) => [sample.index]"),
        ]),
    },
    "fix",
    {
      id: "fixed",
      title: "two fixed runs with the same hash, made by the repaired policy",
      next: FIXED.map((name) => select(name)).join("\n"),
      run: checkFixed,
    },
  ],
};

function mutant(name: string, as: string, attempts = 1) {
  return { name, file: POLICY, override: { export: "tieBreakKey", as }, attempts };
}

/** What selection may change in a row. */
const CHOSEN = [
  ...["completion", "reward", "outcome_code", "details", "sum_logprob", "sum_ref_logprob"],
  ...["kl_est", "selected", "unstable"],
];

async function checkVariance(context: CheckContext): Promise<string> {
  const built = await rows(context, BUILT);
  const hashes = new Map<string, string>();
  for (const name of RANDOM) {
    const { run } = await selectionRun(context, name, 4);
    const duplicate = hashes.get(run.summary.results_sha256);
    ensure(duplicate === undefined, {
      expected: "five different hashes of results.jsonl",
      found: `the same for runs/${duplicate} and runs/${name}`,
      where: "summary.json, results_sha256",
    });
    hashes.set(run.summary.results_sha256, name);
    const forged = (await rows(context, name)).find((row, i) => !isValidChoice(row, built[i]));
    ensure(forged === undefined, {
      expected: `rows of runs/${name} that select a best sample of the pack`,
      found: `${forged?.id} does not select one`,
      where: `runs/${name}/results.jsonl`,
    });
  }
  await checkOrder(context, [BUILT, ...RANDOM]);
  return numbered([...hashes.keys()]);
}

/** One line for each run, as the level's command prints it: "run 1  3f…", or with its name. */
const numbered = (sha256s: readonly string[], names?: readonly string[]) =>
  sha256s.map((sha256, i) => `${names?.[i] ?? `run ${i + 1}`}  ${sha256}`).join("\n");

async function rows(context: CheckContext, name: string): Promise<ResultRow[]> {
  const found: ResultRow[] = [];
  for await (const batch of (await context.run(name)).results().batches()) found.push(...batch);
  return found;
}

/** The same samples, and one of the best among the first four is selected. */
function isValidChoice(row: ResultRow, built: ResultRow | undefined): boolean {
  const strip = (fields: object) =>
    JSON.stringify(Object.entries(fields).filter(([key]) => !CHOSEN.includes(key)));
  const candidates = row.samples?.slice(0, 4) ?? [];
  const best = Math.max(...candidates.map(({ reward }) => reward ?? Number.NEGATIVE_INFINITY));
  const chosen = candidates[row.selected?.index ?? -1];
  return (
    built !== undefined &&
    strip(row) === strip(built) &&
    chosen?.reward === best &&
    chosen.completion === row.completion
  );
}

async function checkRandom(context: CheckContext): Promise<string> {
  const samples = hiddenPacks(rngAt(hiddenSeed(context, "0.5"))).flat();
  for (const name of RANDOM) {
    const { policy } = await selectionRun(context, name, 4);
    const twice = samples.flatMap((sample) => [[sample], [sample]]);
    const keys = await policy.file.call("tieBreakKey", twice);
    const differs = samples.some(
      (_, i) => JSON.stringify(keys[2 * i]) !== JSON.stringify(keys[2 * i + 1]),
    );
    ensure(differs, {
      expected: `the policy of runs/${name} to return other keys when it is called again`,
      found: "the same keys every time",
      where: `git show ${policy.version.commit.hash.slice(0, 7)}:${POLICY}`,
    });
  }
  return "the same sample gets different keys";
}

async function checkFixed(context: CheckContext): Promise<string> {
  const current = (await context.versions(POLICY)).at(-1)?.text;
  const hashes: string[] = [];
  for (const name of FIXED) {
    const { run, policy } = await repeatSelection(context, name, 4);
    ensure(policy.version.text === current, {
      expected: `runs/${name} made with ${POLICY} as it is committed now`,
      found: `the version of commit ${policy.version.commit.hash.slice(0, 7)}`,
      where: `git log --oneline -- ${POLICY}`,
      next: `Make runs/${name} again with --force.`,
    });
    ensure(run.summary.alarms.length === 0, {
      expected: "no alarm",
      found: run.summary.alarms.map(({ code }) => code).join(", "),
      where: `runs/${name}/summary.json`,
    });
    hashes.push(run.summary.results_sha256);
  }
  ensure(new Set(hashes).size === 1, {
    expected: "the same SHA-256 of results.jsonl",
    found: hashes.join(" and "),
    where: "summary.json, results_sha256",
  });
  await checkOrder(context, [RANDOM[4] as string, ...FIXED]);
  return `${numbered(hashes, FIXED_NAMES)}\nequal, and the same when repeated`;
}

async function checkTieBreak(context: CheckContext): Promise<string> {
  const packs = hiddenPacks(rngAt(hiddenSeed(context, "0.5 ties")));
  const file = await committedFile(context, POLICY);
  const samples = packs.flat().map((sample) => [sample]);
  const keys = await file.call("tieBreakKey", samples);
  let next = 0;
  for (const pack of packs) {
    const given = new Map(pack.map((sample) => [sample, keys[next++] as (number | string)[]]));
    const picked = pickBest(pack, (sample) => given.get(sample) ?? []);
    const right = pickBest(pack, ({ sum_logprob: logprob, completion }) => [
      logprob === null ? 1 : 0,
      -(logprob ?? 0),
      completion.length,
      completion,
    ]);
    ensure(picked?.completion === right?.completion, () => ({
      expected: `${describe(right)} to win over ${describe(picked)}`,
      found: `the reverse${picked?.sum_logprob === null && right?.sum_logprob !== null ? MISSING_AS_ZERO : ""}`,
      where: POLICY,
    }));
  }
  return `${packs.length} hidden packs`;
}

/** The commonest mistake: a key such as [-(sample.sum_logprob ?? 0), …]. */
export const MISSING_AS_ZERO =
  ". A key that counts a missing sum_logprob as 0, such as -(sample.sum_logprob ?? 0), calls that sample certain: a log-prob of 0 is a probability of 1, and every other log-prob is below it. So the sample of which nothing is known wins every tie. Missing is not zero: put samples without one last, by an element of the key before the log-prob";

function describe(sample: ScoredSample | undefined): string {
  return `${JSON.stringify(sample?.completion)} (sum_logprob ${sample?.sum_logprob})`;
}

/** Packs of equal rewards in which each rule of the tie-break decides sometimes. */
function hiddenPacks(rng: Rng): ScoredSample[][] {
  const texts = [
    ...["Final: 1", "Final: 2", "final: 2", "Final: 12"],
    ...[" Final: 1", "Final: 1 ", "Final: 21", "FINAL: 3"],
  ];
  return Array.from({ length: 80 }, (_, pack) => {
    const shared = -2 * rng.next();
    const logprobs = [
      () => -2 * rng.next(),
      () => null,
      () => (rng.below(2) === 0 ? null : -rng.next() / 10),
      () => shared,
    ];
    return Array.from({ length: 5 }, (_, index) => ({
      index,
      completion: texts[rng.below(texts.length)] as string,
      sum_logprob: logprobs[pack % logprobs.length]?.() ?? null,
      sum_ref_logprob: null,
      reward: 1,
      code: "ok",
      details: {},
    }));
  });
}
