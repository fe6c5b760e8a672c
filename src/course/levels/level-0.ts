/** Level 0: measurement hygiene. */

import { OUTCOME_CODES, classify as referenceClass } from "../../scorers/index.ts";
import { type CheckContext, ensure } from "../check-context.ts";
import {
  checkOrder,
  checkShipped,
  DEV,
  evalRun,
  FROZEN,
  jsonLines,
  savedGate,
  verdictText,
} from "../evidence.ts";
import { checkTests, committedFile, type Mutant } from "../learner-code.ts";
import type { LevelDefinition } from "../level.ts";
import { checkSections, isDrawing, type SectionRule } from "../notes.ts";
import { evalCommand, TAMPERED } from "../run-commands.ts";
import { runNoteCheck, runNoteTask } from "../run-note-check.ts";

const BUILT = "l0_build_eval";
const SABOTAGED = "l0_sabotage_eval_tampered";
const GATE = "runs/l0_gate.json";
const KATA = "assignments/kata_01.ts";
const KATA_TEST = "tests/kata_01.test.ts";
const NOTE = "notes/mental_map_v1.md";

const BUILD = evalCommand(DEV, BUILT);
const COPY = `cp ${DEV} ${TAMPERED}`;
const SABOTAGE = evalCommand(TAMPERED, SABOTAGED);
const COMPARE = `./lockedroom gate \\
  --baseline runs/${BUILT} \\
  --candidate runs/${SABOTAGED} \\
  --min-delta 0.00 --report ${GATE}`;

export const LEVEL_0: LevelDefinition = {
  id: "0",
  title: "Measurement hygiene",
  loop: "A",
  wrong: "The score fell, so the model got worse.",
  right:
    "Loop A checks a measurement. A number changes because the policy changed or because the measurement did, and you have to prove which.",
  commits: [
    { name: "build", file: `runs/${BUILT}/manifest.json` },
    { name: "sabotage", file: `runs/${SABOTAGED}/manifest.json` },
    { name: "fix", file: KATA },
  ],
  budget: { change: ["assignments/", "tests/"], add: ["data/"] },
  evidence: [`runs/${BUILT}/`, `runs/${SABOTAGED}/`, GATE, TAMPERED, KATA, KATA_TEST, NOTE],
  stages: {
    Build: {
      text: "You work on the git branch mastery-track, where every step is a small commit of its own, so that you can prove what changed. Run a clean evaluation and inspect the failures.",
      commands: [
        BUILD,
        "./lockedroom inspect-run --run runs/l0_build_eval \\\n  --only-fails --top-k 5 --show 2",
      ],
    },
    Sabotage: {
      text: "Change the data between two runs: copy the data set, change the expected_answer of exactly one record in the copy, and evaluate the same completions.",
      commands: [COPY, "# Now change one expected_answer in the copy. Then:", SABOTAGE],
    },
    Reflect: {
      text: "Ask the gate whether the two runs are comparable. It must reject them, and its reasons must name the data.",
      commands: [COMPARE],
    },
    "Repair and lock": {
      text: "Fill in the run note of the sabotage, then do the tasks.",
      commands: ["npm test"],
    },
  },
  tasks: [
    `${NOTE}: define reward, metric, objective, loss, policy and environment; draw Loops A, B and C with the knob of each.`,
    `${KATA}: classify(outcomeCode) returns the class of a failure. wrong_answer is model_math, every format code is model_format, invalid_example is data_invalid, anything else is unknown. The file lists the codes; scoring.ts is not needed, and level 4 asks you not to have read it.`,
    `${KATA_TEST}: at least three tests of classify.`,
    `${runNoteTask(SABOTAGED, BUILT)} Pick the knob yourself, from the two manifests; the check compares it with what the gate finds.`,
  ],
  checklist: [
    "Two evaluations differ. What are the possible causes, and where in manifest.json is the evidence?",
    "How do outcome codes distinguish a format failure from an arithmetic failure?",
    "Why is a higher pass rate on a tampered data set not an improvement?",
  ],
  checks: [
    {
      id: "build",
      title: "runs/l0_build_eval: a clean, repeatable evaluation",
      next: BUILD,
      run: async (context) => {
        await checkShipped(context, DEV);
        await checkShipped(context, FROZEN);
        const { summary } = await evalRun(context, BUILT, DEV);
        return `pass rate ${summary.metrics.pass_rate?.toFixed(4)}, the same when repeated`;
      },
    },
    "build",
    {
      id: "tampered-data",
      title: "the tampered data set differs in exactly one expected answer",
      next: `${COPY}\nThen change the expected_answer of one record in it.`,
      run: checkOneChange,
    },
    {
      id: "sabotage",
      title: "runs/l0_sabotage_eval_tampered: the same completions, tampered data",
      next: SABOTAGE,
      run: async (context) => {
        ensure((await context.sha256(TAMPERED)) !== (await context.sha256(DEV)), {
          expected: `${TAMPERED} with one changed record`,
          found: `an unchanged copy of ${DEV}`,
          where: TAMPERED,
          next: "Change the expected_answer of one record in it, then run the command again.",
        });
        const { summary } = await evalRun(context, SABOTAGED, TAMPERED);
        await checkOrder(context, [BUILT, SABOTAGED]);
        return `pass rate ${summary.metrics.pass_rate?.toFixed(4)}`;
      },
    },
    {
      id: "gate",
      title: "the gate rejected it because of the data",
      next: COMPARE,
      run: checkRefusal,
    },
    runNoteCheck(SABOTAGED, BUILT),
    "sabotage",
    {
      id: "kata",
      title: `${KATA} classifies every outcome code`,
      next: `Write classify in ${KATA}; its comment lists every code.`,
      run: checkKata,
    },
    {
      id: "kata-tests",
      title: `${KATA_TEST} passes, and fails on a wrong classify`,
      next: `Write ${KATA_TEST} with at least three tests of classify. How a test looks is in tests/scoring.test.ts.`,
      run: (context) =>
        checkTests(context, KATA_TEST, 3, [
          mutant("classify always returns unknown", '"unknown"'),
          mutant(
            "classify returns model_format for wrong_answer",
            'code === "wrong_answer" ? "model_format" : original.classify(code)',
          ),
          mutant(
            "classify returns model_math for invalid_example",
            'code === "invalid_example" ? "model_math" : original.classify(code)',
          ),
          mutant(
            "classify returns model_math for missing_prefix",
            'code === "missing_prefix" ? "model_math" : original.classify(code)',
          ),
        ]),
    },
    {
      id: "mental-map",
      title: `${NOTE} defines six terms and draws three loops`,
      next: `Write ${NOTE}.`,
      run: checkMap,
    },
    "fix",
  ],
};

function mutant(name: string, expression: string): Mutant {
  return { name, file: KATA, override: { export: "classify", as: `(code) => ${expression}` } };
}

interface Row {
  readonly id: string;
  readonly expected_answer: unknown;
}

async function checkOneChange(context: CheckContext): Promise<string> {
  const clean = await jsonLines<Row>(context, DEV);
  const tampered = await jsonLines<Row>(context, TAMPERED);
  const where = `diff ${DEV} ${TAMPERED}`;
  const next = `Change the expected_answer of exactly one record in ${TAMPERED}, and nothing else.`;
  ensure(clean.length === tampered.length, {
    expected: `${clean.length} records, as in ${DEV}`,
    found: `${tampered.length}`,
    where,
    next: `Copy it again, then change one expected_answer:\n${COPY}`,
  });
  const strip = ({ expected_answer: _, ...rest }: Row) =>
    JSON.stringify(Object.entries(rest).sort());
  const other = clean.filter((row, i) => strip(row) !== strip(tampered[i] as Row));
  ensure(other.length === 0, {
    expected: "no change except one expected_answer",
    found: `other changes in ${other
      .slice(0, 3)
      .map(({ id }) => id)
      .join(", ")}`,
    where,
    next,
  });
  const changed = clean.filter(
    (row, i) =>
      JSON.stringify(row.expected_answer) !== JSON.stringify(tampered[i]?.expected_answer),
  );
  ensure(changed.length === 1, {
    expected: "exactly one changed expected_answer",
    found: `${changed.length}`,
    where,
    next,
  });
  return `${changed[0]?.id}`;
}

/** The gate's reasons for a tampered data set. */
const DATA_REASONS = ["dataset_bytes_differ", "examples_differ", "expected_answer_altered"];

async function checkRefusal(context: CheckContext): Promise<string> {
  const report = await savedGate(context, GATE, [BUILT, SABOTAGED]);
  const codes = report.reasons.map(({ code }) => code);
  ensure(
    report.decision === "REJECT" &&
      !report.comparable &&
      codes.includes("expected_answer_altered") &&
      codes.every((code) => DATA_REASONS.includes(code)),
    {
      expected: "REJECT, not comparable, because an expected answer was altered",
      found: verdictText(report),
      where: GATE,
    },
  );
  return verdictText(report);
}

async function checkKata(context: CheckContext): Promise<string> {
  const unknown = ["", "OK", "wrong answer", "scorer_error", "missing_completion", "timeout"];
  const codes = [...OUTCOME_CODES, ...unknown];
  const kata = await committedFile(context, KATA);
  await kata.checkReturns(
    "classify",
    codes.map((code) => ({ args: [code], wanted: referenceClass(code) })),
  );
  return `${codes.length} codes`;
}

const term = (...keys: string[]): SectionRule => ({ words: 15, keys });

/** Words with which the terms are explained; each needs two of its own. */
const TERMS: Readonly<Record<string, SectionRule>> = {
  Reward: term("scorer", "verifier", "completion", "answer", "signal", "correct", "number"),
  Metric: term("measure", "mean", "rate", "average", "evaluation", "data", "compare", "number"),
  Objective: term("expected", "maximise", "optimise", "reward", "policy", "goal", "penalty"),
  Loss: term("gradient", "update", "log", "probability", "advantage", "minimise", "training"),
  Policy: term("distribution", "probability", "token", "model", "sample", "action", "parameter"),
  Environment: term("prompt", "data", "scorer", "verifier", "sampling", "task", "world", "reward"),
};

async function checkMap(context: CheckContext): Promise<string> {
  const found = await checkSections(context, NOTE, { ...TERMS, "The three loops": 6 });
  const drawing = found.get("the three loops") ?? "";
  ensure(isDrawing(drawing, 3), {
    expected: "a drawing of the loops: a line for each, or a code block with an arrow",
    found: "all of them on one line",
    where: NOTE,
  });
  const missing = [
    ...["A", "B", "C"].filter((loop) => !drawsLoop(drawing, loop)).map((loop) => `Loop ${loop}`),
    ...["measurement", "selection", "policy"].filter((knob) => !hasWord(drawing, knob)),
  ];
  ensure(missing.length === 0, {
    expected:
      'Loops A, B and C, labelled "Loop A" or "A:", with their knobs: measurement, selection, policy',
    found: `no ${missing.join(", no ")}`,
    where: NOTE,
  });
  return "seven sections";
}

const hasWord = (drawing: string, word: string) => drawing.toLowerCase().includes(word);

/** "Loop A", or the letter as a label: "A:", "A)", "[A]", "A → …", "A = …". */
export function drawsLoop(drawing: string, loop: string): boolean {
  const named = new RegExp(`\\bloop\\W*${loop}\\b`, "i");
  const label = new RegExp(`(?<![\\w'’-])${loop}\\s*(?:[:.)\\]=|│>→—–]|-+>?)`);
  return named.test(drawing) || label.test(drawing);
}
