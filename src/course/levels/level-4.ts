/** Level 4: the reward is the specification. */

import { validationReportSchema } from "../../runs/index.ts";
import { commitCheck, historyChecks } from "../budget.ts";
import { CORRECT, call, DEV, demandShipped, EXPLOITS, jsonLines, savedJson } from "../evidence.ts";
import { demand, Gap } from "../gap.ts";
import { demandTests } from "../learner-tests.ts";
import type { Level } from "../level.ts";
import { demandSections, tableRows } from "../notes.ts";
import type { Room } from "../room.ts";
import {
  behaviourDiffers,
  demandReport,
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
/** What the probes of the note are judged against. */
const PROBED_ANSWER = 323;

const REPORTS = {
  correct: "runs/l4_build_correct.json",
  exploits: "runs/l4_build_exploits.json",
  sabotage: "runs/l4_sabotage_exploits.json",
  fixed: "runs/l4_fixed_extra.json",
} as const;

const validate = (golden: string, report: string) =>
  `./lockedroom validate-scorer --quiet \\\n  --dataset ${DEV} \\\n  --golden ${golden} \\\n  --report ${report}`;

const base = {
  id: "4" as const,
  commits: [
    { name: "build", file: NOTE },
    { name: "sabotage", file: SCORER, first: "Weaken one rule of scoring.ts." },
    {
      name: "fix",
      file: SCORER,
      first: "Restore the rule, write the regressions and the new exploits.",
    },
  ],
  budget: { change: [SCORER, "tests/"], add: ["data/golden/"] },
  evidence: [...Object.values(REPORTS), EXTRA, SCORER, TEST, NOTE],
};

export const LEVEL_4: Level = {
  ...base,
  title: "Reward is specification",
  loop: "A",
  wrong: "The scorer is just an assertion.",
  right:
    "The scorer defines the task. It is measurement software in production: deterministic, total, explainable, fast, versioned, and tested against those who would cheat it.",
  stages: [
    {
      name: "Build",
      text: `Before you read ${SCORER}: write down the rules that you believe in and eight probes. Then check the scorer against both golden suites, and commit.`,
      commands: [
        validate(CORRECT, REPORTS.correct),
        validate(EXPLOITS, REPORTS.exploits),
        'git add -A && git commit -m "L4 build"',
      ],
    },
    {
      name: "Sabotage",
      text: `Weaken one strict rule of ${SCORER}: allow extra white space after "Final:", or leading zeros, or several lines. Commit, and validate: the command must now name loopholes.`,
      commands: ['git add -A && git commit -m "L4 sabotage"', validate(EXPLOITS, REPORTS.sabotage)],
    },
    {
      name: "Reflect",
      text: "Each false positive is a completion that a policy would learn to write.",
      commands: [`head -n 30 ${REPORTS.sabotage}`],
    },
    {
      name: "Repair and lock",
      text: "Restore the rule, write the regressions and the new exploits, commit, validate. Bump SCORER_VERSION if, and only if, the scorer now behaves differently from the one you were given.",
      commands: [
        "npm test",
        'git add -A && git commit -m "L4 fix"',
        validate(EXTRA, REPORTS.fixed),
        'git add -A && git commit -m "L4 fix, with its report"',
      ],
    },
  ],
  tasks: [
    `${NOTE}: the rules you believe in and eight probes with predicted codes, committed before ${SCORER} changes; afterwards what the verifier really says (./lockedroom token-inspect --escapes "…" --expect ${PROBED_ANSWER}).`,
    `${TEST}: at least six tests of score(): two of known correct answers, four of exploits or edges. At least one must fail on the weakened scorer.`,
    `${EXTRA}: at least five new rows such as {"id":"dev-0001","completion":"…","expected_reward":0,"note":"…"} that the weakened scorer pays for and the restored one does not. The id names the example that is answered, so the completion holds its answer; variants of one trick count.`,
  ],
  checklist: [
    "What are a false positive and a false negative of this verifier?",
    "Why does changed behaviour need a new version, and an end to comparisons with old numbers?",
    "Why is more lenient parsing usually a trap?",
  ],
  checks: [
    {
      id: "blackbox",
      title: `${NOTE}: rules, and eight probes predicted before the scorer changed`,
      next: `Write ${NOTE} and commit it.`,
      run: demandProbes,
    },
    {
      id: "build",
      title: "the shipped scorer agrees with both golden suites",
      next: `${validate(CORRECT, REPORTS.correct)}\n${validate(EXPLOITS, REPORTS.exploits)}`,
      run: async (room) => {
        await demandShipped(room, CORRECT);
        await demandShipped(room, EXPLOITS);
        const scorer = await shippedScorer(room);
        await demandReport(room, REPORTS.correct, CORRECT, scorer);
        const { counts } = await demandReport(room, REPORTS.exploits, EXPLOITS, scorer);
        return `${counts.agrees} exploits refused`;
      },
    },
    commitCheck(base, "build"),
    commitCheck(base, "sabotage"),
    {
      id: "sabotage",
      title: "a weakened scorer, and the suite that caught it",
      next: `Weaken one rule of ${SCORER}, commit, then:\n${validate(EXPLOITS, REPORTS.sabotage)}`,
      run: async (room) => {
        const weak = await weakened(room);
        const { counts } = await demandReport(room, REPORTS.sabotage, EXPLOITS, weak);
        return `${counts.false_positive} false positives`;
      },
    },
    {
      id: "restored",
      title: "the restored scorer agrees with both golden suites",
      next: `Restore the rule in ${SCORER} and commit it.`,
      run: async (room) => {
        const now = await scorerAt(room, room.head);
        for (const golden of [CORRECT, EXPLOITS]) {
          const report = await validation(room, golden, now);
          demand(report.valid, {
            expected: `no disagreement with ${golden}`,
            found: `${report.disagreements.length}, such as ${JSON.stringify(report.disagreements[0]?.completion)}`,
            look: SCORER,
          });
        }
        return "valid";
      },
    },
    {
      id: "tests",
      title: `${TEST}: six regressions that fail on a scorer that is too kind or too strict`,
      next: `Write ${TEST} with at least six tests.`,
      run: async (room) => {
        const weak = await weakened(room);
        return demandTests(room, TEST, 6, [
          { name: "the scorer is the weakened one", file: SCORER, text: weak.text },
          constant("the scorer pays for everything", 1, "ok", 4),
          constant("the scorer pays for nothing", 0, "wrong_answer", 2),
        ]);
      },
    },
    {
      id: "exploits",
      title: `${EXTRA}: five new exploits that only the weakened scorer pays for`,
      next: `Write ${EXTRA}.`,
      run: demandExtra,
    },
    commitCheck(base, "fix"),
    {
      id: "fixed",
      title: `${REPORTS.fixed}: the restored scorer refuses them`,
      next: validate(EXTRA, REPORTS.fixed),
      run: async (room) => {
        const report = await demandReport(
          room,
          REPORTS.fixed,
          EXTRA,
          await scorerAt(room, room.head),
        );
        return `${report.counts.agrees} refused`;
      },
    },
    {
      id: "version",
      title: "the version was bumped if, and only if, behaviour changed",
      next: `Set SCORER_VERSION in ${SCORER} and commit.`,
      run: demandVersion,
    },
    ...historyChecks(base),
  ],
};

/** The sabotage that the learner's own report speaks of, where there is one. */
async function weakened(room: Room): Promise<ScorerVersion> {
  const saved = room.has(REPORTS.sabotage)
    ? await savedJson(room, REPORTS.sabotage, validationReportSchema).catch(() => undefined)
    : undefined;
  return weakenedScorer(room, EXPLOITS, saved?.scorer.source_sha256);
}

function constant(name: string, reward: number, code: string, least: number) {
  const as = `() => ({ reward: ${reward}, code: "${code}", details: {} })`;
  return { name, file: SCORER, override: { export: "score", as }, least };
}

async function demandProbes(room: Room): Promise<string> {
  await demandSections(room, NOTE, { "The rules I believe in": 30 });
  const probes = parseProbes(await room.read(NOTE));
  demand(probes.length >= 8, {
    expected: "eight probes",
    found: `${probes.length}`,
    look: NOTE,
  });
  await demandPrediction(room);
  const example = { id: "probe", prompt: "", expected_answer: PROBED_ANSWER };
  const { path } = await shippedScorer(room);
  const judged = await call(
    room,
    path,
    SCORER,
    "score",
    probes.map(({ text }) => [example, text]),
  );
  for (const [i, { text, actual }] of probes.entries()) {
    const { code } = judged[i] as { code: string };
    demand(actual === code, {
      expected: `${JSON.stringify(text)} to be ${code} (expected answer ${PROBED_ANSWER})`,
      found: actual === "" ? "nothing in the column actual" : actual,
      look: NOTE,
      next: `Fill in the column "actual" of ${NOTE} from: ./lockedroom token-inspect --escapes "…" --expect ${PROBED_ANSWER}`,
    });
  }
  const right = probes.filter(({ predicted, actual }) => predicted === actual).length;
  return `${right} of ${probes.length} predicted`;
}

interface Probe {
  readonly text: string;
  readonly predicted: string;
  readonly actual: string;
}

function parseProbes(note: string): Probe[] {
  const probes = tableRows(note).map(([cell = "", predicted = "", actual = ""]) => {
    const quoted = cell.replace(/^`(.*)`$/, "$1");
    try {
      return { text: String(JSON.parse(quoted)), predicted, actual: actual.replaceAll("`", "") };
    } catch {
      throw new Gap({
        expected: 'each probe as a JSON text, such as "Final:  323"',
        found: cell,
        look: NOTE,
      });
    }
  });
  const distinct = new Set(probes.map(({ text }) => text));
  demand(distinct.size === probes.length, {
    expected: "different probes",
    found: `${probes.length - distinct.size} repeated`,
    look: NOTE,
  });
  demand(
    probes.every(({ predicted }) => predicted !== ""),
    { expected: "a prediction for each probe", found: "an empty one", look: NOTE },
  );
  return probes;
}

/** Eight predictions stood in the history before the scorer was touched. */
async function demandPrediction(room: Room): Promise<void> {
  const versions = await room.versions(NOTE);
  const written = versions.find(({ text }) => tableRows(text).length >= 8)?.commit;
  const touched = (await room.versions(SCORER))[1]?.commit;
  demand(written !== undefined, {
    expected: "the probes committed",
    found: "no commit that has eight",
    look: `git log --oneline -- ${NOTE}`,
    next: 'git add -A && git commit -m "L4 build"',
  });
  demand(touched === undefined || room.commits.indexOf(written) < room.commits.indexOf(touched), {
    expected: `the probes committed before ${SCORER} changed`,
    found: `commit ${written.hash.slice(0, 7)}, after ${touched?.hash.slice(0, 7)}`,
    look: "git log --oneline",
    next: "Predictions cannot be made afterwards. Make eight new probes of rules you have not changed, and say so in the note.",
  });
}

interface GoldenLine {
  readonly id: string;
  readonly completion: string;
  readonly expected_reward: number;
}

async function demandExtra(room: Room): Promise<string> {
  const rows = await jsonLines<GoldenLine>(room, EXTRA);
  const known = new Set((await jsonLines<GoldenLine>(room, EXPLOITS)).map(keyOf));
  const fresh = new Map(
    rows.filter((row) => !known.has(keyOf(row))).map((row) => [keyOf(row), row]),
  );
  const exploits = [...fresh.values()];
  demand(exploits.length >= 5, {
    expected: "at least five exploits that golden_exploits.jsonl does not have",
    found: `${exploits.length} of ${rows.length} rows are new and different`,
    look: EXTRA,
  });
  const [weak, now] = [await weakened(room), await scorerAt(room, room.head)];
  const [byWeak, byNow] = [await validation(room, EXTRA, weak), await validation(room, EXTRA, now)];
  demand(byNow.valid, {
    expected: "every row refused by the restored scorer",
    found: `${byNow.disagreements.length} disagreements, such as ${JSON.stringify(byNow.disagreements[0]?.completion)}`,
    look: EXTRA,
  });
  const paid = new Set(byWeak.disagreements.filter(({ reward }) => reward === 1).map(keyOf));
  const beaten = exploits.filter((row) => paid.has(keyOf(row)));
  demand(beaten.length >= 5, {
    expected: "at least five that the weakened scorer pays for",
    found: `${beaten.length}`,
    look: EXTRA,
    next: `Add rows to ${EXTRA} that use the loophole which your sabotage opened.`,
  });
  return `${beaten.length} exploits of the loophole`;
}

function keyOf({ id, completion }: Pick<GoldenLine, "id" | "completion">): string {
  return JSON.stringify([id, completion]);
}

async function demandVersion(room: Room): Promise<string> {
  const [first, now] = [await shippedScorer(room), await scorerAt(room, room.head)];
  const [was, is] = [await versionOfScorer(room, first), await versionOfScorer(room, now)];
  const difference = await behaviourDiffers(room, first, now);
  demand((difference !== undefined) === (was !== is), {
    expected:
      difference === undefined
        ? `version ${was}: nothing behaves differently`
        : `another version than ${was}: ${difference}`,
    found: `version ${is}`,
    look: SCORER,
  });
  return difference === undefined ? `${is}, and the same behaviour` : `${was} → ${is}`;
}
