/** Level 4: the reward as specification. */

import { validationReportSchema } from "../../runs/index.ts";
import { type CheckContext, CheckFailure, ensure } from "../check-context.ts";
import {
  CORRECT,
  checkShipped,
  DEV,
  EXPLOITS,
  evalRun,
  jsonLines,
  savedJson,
} from "../evidence.ts";
import { checkTests, committedFile } from "../learner-code.ts";
import type { LevelDefinition } from "../level.ts";
import { SPEC_NOTE } from "../note-rules.ts";
import { checkSections, tableRows } from "../notes.ts";
import { evalCommand } from "../run-commands.ts";
import { runNoteCheck, runNoteTask } from "../run-note-check.ts";
import {
  behaviourDiffers,
  checkReport,
  SCORER,
  type ScorerVersion,
  scorerAt,
  shippedScorer,
  validation,
  versionOfScorer,
  weakenedScorer,
} from "../scorer-versions.ts";

const NOTE = "notes/reward_spec_blackbox.md";
const TEST = "tests/reward_regressions.test.ts";
const EXTRA = "data/golden/golden_exploits_extra.jsonl";
/** The frozen completions of level 0, measured with the weakened scorer. */
const MEASURED = "l4_sabotage_eval";
const BEFORE = "l0_build_eval";
const MEASURE = evalCommand(DEV, MEASURED);
/** The expected answer for the probes of the note. */
const PROBED_ANSWER = 323;

const REPORTS = {
  correct: "runs/l4_build_correct.json",
  exploits: "runs/l4_build_exploits.json",
  sabotage: "runs/l4_sabotage_exploits.json",
  fixed: "runs/l4_fixed_extra.json",
} as const;

const validate = (golden: string, report: string) =>
  `./lockedroom validate-scorer --quiet \\\n  --dataset ${DEV} \\\n  --golden ${golden} \\\n  --report ${report}`;

export const LEVEL_4: LevelDefinition = {
  id: "4",
  title: "Reward is specification",
  loop: "A",
  wrong: "The scorer is just an assertion.",
  right:
    "The scorer defines the task. It is production software for measurement: deterministic, total, explainable, fast, versioned, and tested against exploits.",
  commits: [
    { name: "build", file: NOTE },
    { name: "sabotage", file: SCORER, first: "Weaken one rule of scoring.ts." },
    {
      name: "fix",
      file: SCORER,
      first: "Restore the rule, write the regression tests and the new exploits.",
    },
  ],
  budget: { change: [SCORER, "tests/"], add: ["data/golden/"] },
  evidence: [...Object.values(REPORTS), `runs/${MEASURED}/`, EXTRA, SCORER, TEST, NOTE],
  stages: {
    Build: {
      text: `Before you read ${SCORER}: write down the rules that you expect and eight probes. Then validate the scorer with both golden suites, and commit.`,
      commands: [
        validate(CORRECT, REPORTS.correct),
        validate(EXPLOITS, REPORTS.exploits),
        'git add -A && git commit -m "L4 build"',
      ],
    },
    Sabotage: {
      text: `Weaken one strict rule of ${SCORER}: allow extra white space after "Final:", or leading zeros, or several lines. Commit, and validate: the command must now report false positives. Then measure the completions of level 0 with it.`,
      commands: [
        'git add -A && git commit -m "L4 sabotage"',
        validate(EXPLOITS, REPORTS.sabotage),
        MEASURE,
      ],
    },
    Reflect: {
      text: "Each false positive is a completion that a policy would learn to write. And the same completions now have another pass rate: ask the gate what changed.",
      commands: [
        `head -n 30 ${REPORTS.sabotage}`,
        `./lockedroom gate \\\n  --baseline runs/${BEFORE} --candidate runs/${MEASURED}`,
      ],
    },
    "Repair and lock": {
      text: "Restore the rule, write the regression tests and the new exploits, commit, validate. Bump SCORER_VERSION if and only if the scorer now behaves differently from the shipped one.",
      commands: [
        "npm test",
        'git add -A && git commit -m "L4 fix"',
        validate(EXTRA, REPORTS.fixed),
        'git add -A && git commit -m "L4 fix, with its report"',
      ],
    },
  },
  tasks: [
    `${NOTE}: the rules you expect and eight probes with predicted codes, committed before ${SCORER} changes; afterwards the actual codes (./lockedroom token-inspect --escapes "…" --expect ${PROBED_ANSWER}).`,
    `${TEST}: at least six tests of score(): two of correct answers, four of exploits or edge cases. At least one must fail on the weakened scorer.`,
    `${EXTRA}: at least five new rows such as {"id":"dev-0001","completion":"…","expected_reward":0,"note":"…"} that the weakened scorer accepts and the restored one rejects. The id names the example, so the completion holds its answer; variants of one exploit count.`,
    runNoteTask(MEASURED, BEFORE),
  ],
  checklist: [
    "What are a false positive and a false negative of this verifier?",
    "Why does changed behaviour need a new version, and why are old numbers then not comparable?",
    "Why is lenient parsing usually a mistake?",
  ],
  checks: [
    {
      id: "blackbox",
      title: `${NOTE}: rules, and eight probes predicted before the scorer changed`,
      next: `Write ${NOTE} and commit it.`,
      run: checkProbes,
    },
    {
      id: "build",
      title: "the shipped scorer agrees with both golden suites",
      next: `${validate(CORRECT, REPORTS.correct)}\n${validate(EXPLOITS, REPORTS.exploits)}`,
      run: async (context) => {
        await checkShipped(context, CORRECT);
        await checkShipped(context, EXPLOITS);
        const scorer = await shippedScorer(context);
        await checkReport(context, REPORTS.correct, CORRECT, scorer);
        const { counts } = await checkReport(context, REPORTS.exploits, EXPLOITS, scorer);
        return `${counts.agrees} exploits rejected`;
      },
    },
    "build",
    "sabotage",
    {
      id: "sabotage",
      title: "a weakened scorer, and the golden suite that catches it",
      next: `With one rule of ${SCORER} weakened, and committed:\n${validate(EXPLOITS, REPORTS.sabotage)}`,
      run: async (context) => {
        const weak = await weakened(context);
        const { counts } = await checkReport(context, REPORTS.sabotage, EXPLOITS, weak);
        return `${counts.false_positive} false positives`;
      },
    },
    {
      id: "measured",
      title: `runs/${MEASURED}: the completions of level 0, scored by the weakened scorer`,
      next: `With the weakened ${SCORER} in place:\n${MEASURE}`,
      run: checkMeasured,
    },
    runNoteCheck(MEASURED, BEFORE),
    {
      id: "restored",
      title: "the restored scorer agrees with both golden suites",
      next: `Restore the rule in ${SCORER}.`,
      run: async (context) => {
        await committedFile(context, SCORER);
        const now = await scorerAt(context, context.head);
        for (const golden of [CORRECT, EXPLOITS]) {
          const report = await validation(context, golden, now);
          ensure(report.valid, {
            expected: `no disagreement with ${golden}`,
            found: `${report.disagreements.length}, such as ${JSON.stringify(report.disagreements[0]?.completion)}`,
            where: SCORER,
          });
        }
        return "valid";
      },
    },
    {
      id: "tests",
      title: `${TEST}: six regression tests that fail on a scorer that is too lenient or too strict`,
      next: `Write ${TEST} with at least six tests.`,
      run: async (context) => {
        const weak = await weakened(context);
        return checkTests(context, TEST, 6, [
          { name: "the scorer is the weakened one", file: SCORER, text: weak.text },
          constant("the scorer accepts everything", 1, "ok", 4),
          constant("the scorer rejects everything", 0, "wrong_answer", 2),
        ]);
      },
    },
    {
      id: "exploits",
      title: `${EXTRA}: five new exploits that only the weakened scorer accepts`,
      next: `Write ${EXTRA}.`,
      run: checkExtra,
    },
    "fix",
    {
      id: "fixed",
      title: `${REPORTS.fixed}: the restored scorer rejects them`,
      next: validate(EXTRA, REPORTS.fixed),
      run: async (context) => {
        const now = await scorerAt(context, context.head);
        const { counts } = await checkReport(context, REPORTS.fixed, EXTRA, now);
        return `${counts.agrees} rejected`;
      },
    },
    {
      id: "version",
      title: "the version was bumped if and only if the behaviour changed",
      next: `Set SCORER_VERSION in ${SCORER} and commit.`,
      run: checkVersion,
    },
  ],
};

/** The weakened version that the learner's report is about, if there is one. */
async function weakened(context: CheckContext): Promise<ScorerVersion> {
  const saved = context.has(REPORTS.sabotage)
    ? await savedJson(context, REPORTS.sabotage, validationReportSchema).catch(() => undefined)
    : undefined;
  return weakenedScorer(context, EXPLOITS, saved?.scorer.source_sha256);
}

async function checkMeasured(context: CheckContext): Promise<string> {
  const { manifest, summary } = await evalRun(context, MEASURED, DEV);
  const { text } = await weakened(context);
  const used = await context.versionOf(SCORER, manifest.scorer.source_sha256);
  ensure(used?.text === text, {
    expected: `runs/${MEASURED} scored by the weakened ${SCORER}`,
    found: `the version of commit ${used?.commit.hash.slice(0, 7)}`,
    where: `runs/${MEASURED}/manifest.json, scorer`,
  });
  const before = (await context.run(BEFORE)).summary.metrics.pass_rate;
  return `pass rate ${before?.toFixed(4)} → ${summary.metrics.pass_rate?.toFixed(4)}, the same completions`;
}

function constant(name: string, reward: number, code: string, least: number) {
  const as = `() => ({ reward: ${reward}, code: "${code}", details: {} })`;
  return { name, file: SCORER, override: { export: "score", as }, least };
}

async function checkProbes(context: CheckContext): Promise<string> {
  await checkSections(context, NOTE, SPEC_NOTE);
  const probes = parseProbes(await context.read(NOTE));
  ensure(probes.length >= 8, { expected: "eight probes", found: `${probes.length}`, where: NOTE });
  await checkPrediction(context);
  const example = { id: "probe", prompt: "", expected_answer: PROBED_ANSWER };
  const { file } = await shippedScorer(context);
  const scores = await file.call(
    "score",
    probes.map(({ text }) => [example, text]),
  );
  for (const [i, { text, actual }] of probes.entries()) {
    const { code } = scores[i] as { code: string };
    ensure(actual === code, {
      expected: `${JSON.stringify(text)} to be ${code} (expected answer ${PROBED_ANSWER})`,
      found: actual === "" ? "nothing in the column actual" : actual,
      where: NOTE,
      next: `Fill in the column "actual" of ${NOTE} from: ./lockedroom token-inspect --escapes "…" --expect ${PROBED_ANSWER}`,
    });
  }
  const right = probes.filter(({ predicted, actual }) => predicted === actual).length;
  return `${right} of ${probes.length} predicted`;
}

function parseProbes(note: string) {
  const probes = tableRows(note).map(([cell = "", predicted = "", actual = ""]) => {
    const quoted = cell.replace(/^`(.*)`$/, "$1");
    try {
      return { text: String(JSON.parse(quoted)), predicted, actual: actual.replaceAll("`", "") };
    } catch {
      throw new CheckFailure({
        expected: 'each probe as a JSON string, such as "Final:  323"',
        found: cell,
        where: NOTE,
      });
    }
  });
  const distinct = new Set(probes.map(({ text }) => text));
  ensure(distinct.size === probes.length, {
    expected: "different probes",
    found: `${probes.length - distinct.size} repeated`,
    where: NOTE,
  });
  ensure(
    probes.every(({ predicted }) => predicted !== ""),
    { expected: "a prediction for each probe", found: "an empty one", where: NOTE },
  );
  return probes;
}

/** Eight predictions were committed before the scorer was changed. */
async function checkPrediction(context: CheckContext): Promise<void> {
  const versions = await context.versions(NOTE);
  const written = versions.find(({ text }) => tableRows(text).length >= 8)?.commit;
  const changed = (await context.versions(SCORER))[1]?.commit;
  ensure(written !== undefined, {
    expected: "the probes committed",
    found: "no commit with eight",
    where: `git log --oneline -- ${NOTE}`,
    next: 'git add -A && git commit -m "L4 build"',
  });
  ensure(
    changed === undefined || context.commits.indexOf(written) < context.commits.indexOf(changed),
    {
      expected: `the probes committed before ${SCORER} changed`,
      found: `commit ${written.hash.slice(0, 7)}, after ${changed?.hash.slice(0, 7)}`,
      where: "git log --oneline",
      next: "Predictions cannot be made afterwards. Write eight new probes of rules you have not changed, and say so in the note.",
    },
  );
}

interface GoldenLine {
  readonly id: string;
  readonly completion: string;
  readonly expected_reward: number;
}

async function checkExtra(context: CheckContext): Promise<string> {
  const rows = await jsonLines<GoldenLine>(context, EXTRA);
  const known = new Set((await jsonLines<GoldenLine>(context, EXPLOITS)).map(keyOf));
  const fresh = new Map(
    rows.filter((row) => !known.has(keyOf(row))).map((row) => [keyOf(row), row]),
  );
  const exploits = [...fresh.values()];
  ensure(exploits.length >= 5, {
    expected: "at least five exploits that golden_exploits.jsonl does not have",
    found: `${exploits.length} of ${rows.length} rows are new and different`,
    where: EXTRA,
  });
  const [weak, head] = [await weakened(context), await scorerAt(context, context.head)];
  // Until the restored rule is committed, the shipped scorer stands for it.
  const now = head.text === weak.text ? await shippedScorer(context) : head;
  const byWeak = await validation(context, EXTRA, weak);
  const byNow = await validation(context, EXTRA, now);
  ensure(byNow.valid, {
    expected: "every row rejected by the restored scorer",
    found: `${byNow.disagreements.length} disagreements, such as ${JSON.stringify(byNow.disagreements[0]?.completion)}`,
    where: EXTRA,
  });
  const accepted = new Set(byWeak.disagreements.filter(({ reward }) => reward === 1).map(keyOf));
  const used = exploits.filter((row) => accepted.has(keyOf(row)));
  ensure(used.length >= 5, {
    expected: "at least five that the weakened scorer accepts",
    found: `${used.length}`,
    where: EXTRA,
    next: `Add rows to ${EXTRA} that use the loophole of your sabotage.`,
  });
  return `${used.length} exploits of the loophole`;
}

function keyOf({ id, completion }: Pick<GoldenLine, "id" | "completion">): string {
  return JSON.stringify([id, completion]);
}

async function checkVersion(context: CheckContext): Promise<string> {
  const [first, now] = [await shippedScorer(context), await scorerAt(context, context.head)];
  const [was, is] = [await versionOfScorer(first), await versionOfScorer(now)];
  const difference = await behaviourDiffers(context, first, now);
  ensure((difference !== undefined) === (was !== is), {
    expected:
      difference === undefined
        ? `version ${was}: nothing behaves differently`
        : `another version than ${was}: ${difference}`,
    found: `version ${is}`,
    where: SCORER,
  });
  return difference === undefined ? `${is}, and the same behaviour` : `${was} → ${is}`;
}
