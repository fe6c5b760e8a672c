/** Level 0: the instrument before the model. */

import { OUTCOME_CODES, classify as referenceClass } from "../../scorers/index.ts";
import { commitCheck, historyChecks } from "../budget.ts";
import {
  call,
  committedFile,
  DEV,
  demandShipped,
  evalRun,
  FROZEN,
  jsonLines,
  savedGate,
} from "../evidence.ts";
import { demand } from "../gap.ts";
import { demandTests, type Mutant } from "../learner-tests.ts";
import type { Level } from "../level.ts";
import { demandRunNote, demandSections } from "../notes.ts";
import { demandOrder } from "../replay.ts";
import type { Room } from "../room.ts";

const TAMPERED = "data/datasets/math_dev_TAMPERED.jsonl";
const GATE = "runs/l0_gate.json";
const KATA = "assignments/kata_01.ts";
const KATA_TEST = "tests/kata_01.test.ts";
const NOTE = "notes/mental_map_v1.md";

const BUILD = `./lockedroom eval \\
  --dataset ${DEV} \\
  --completions ${FROZEN} \\
  --outdir runs/l0_build_eval`;
const COPY = `cp ${DEV} ${TAMPERED}`;
const SABOTAGE = `./lockedroom eval \\
  --dataset ${TAMPERED} \\
  --completions ${FROZEN} \\
  --outdir runs/l0_sabotage_eval_tampered`;
const JUDGE = `./lockedroom gate \\
  --baseline runs/l0_build_eval \\
  --candidate runs/l0_sabotage_eval_tampered \\
  --min-delta 0.00 --report ${GATE}`;

const base = {
  id: "0" as const,
  commits: [
    { name: "build", file: "runs/l0_build_eval/manifest.json" },
    { name: "sabotage", file: "runs/l0_sabotage_eval_tampered/manifest.json" },
    { name: "fix", file: KATA },
  ],
  budget: { change: ["assignments/", "tests/"], add: ["data/"] },
  evidence: [
    "runs/l0_build_eval/",
    "runs/l0_sabotage_eval_tampered/",
    GATE,
    TAMPERED,
    KATA,
    KATA_TEST,
    NOTE,
  ],
};

export const LEVEL_0: Level = {
  ...base,
  title: "Measurement hygiene",
  loop: "A",
  wrong: "The score fell, so the model got worse.",
  right:
    "Loop A checks an instrument. A number moves because the policy changed or because the conditions of measurement did, and it is my job to prove which.",
  stages: [
    {
      name: "Build",
      text: "A clean evaluation, and a look at what failed.",
      commands: [
        BUILD,
        "./lockedroom inspect-run --run runs/l0_build_eval \\\n  --only-fails --top-k 5 --show 2",
      ],
    },
    {
      name: "Sabotage",
      text: "Break the locked room: in the copy change the expected_answer of exactly one record, by hand, and evaluate the same completions.",
      commands: [COPY, "# Now change one expected_answer in the copy, by hand. Then:", SABOTAGE],
    },
    {
      name: "Reflect",
      text: "Let the gate say whether the two numbers may be compared. It must refuse, and its reasons must name the data.",
      commands: [JUDGE],
    },
    {
      name: "Repair and lock",
      text: "Fill in the run note of the sabotage, then the tasks.",
      commands: ["npm test"],
    },
  ],
  tasks: [
    `${NOTE}: define reward, metric, objective, loss, policy and environment; draw Loops A, B and C with the knob of each.`,
    `${KATA}: classify(outcomeCode) says whose fault an outcome is. wrong_answer is model_math, every code of format is model_format, invalid_example is data_invalid, anything else is unknown.`,
    `${KATA_TEST}: a small answer key for it, at least three tests.`,
    "runs/l0_sabotage_eval_tampered/README.md: what you expected, and the repair plan.",
  ],
  checklist: [
    "Two evaluations differ. What are the only valid causes, and where in manifest.json is the evidence?",
    "How do outcome codes tell a failure of format from a failure of arithmetic?",
    "Why is a pass rate that rose on a tampered data set no improvement?",
  ],
  checks: [
    {
      id: "build",
      title: "runs/l0_build_eval: a clean evaluation that can be repeated",
      next: BUILD,
      run: async (room) => {
        await demandShipped(room, DEV);
        await demandShipped(room, FROZEN);
        const { summary } = await evalRun(room, "l0_build_eval", DEV);
        return `pass rate ${summary.metrics.pass_rate?.toFixed(4)}, the same when repeated`;
      },
    },
    commitCheck(base, "build"),
    {
      id: "tampered-data",
      title: "the tampered data set differs in exactly one expected answer",
      next: `${COPY}\nThen change the expected_answer of one record in it.`,
      run: demandOneChange,
    },
    {
      id: "sabotage",
      title: "runs/l0_sabotage_eval_tampered: the same completions, tampered data",
      next: SABOTAGE,
      run: async (room) => {
        demand((await room.sha256(TAMPERED)) !== (await room.sha256(DEV)), {
          expected: `${TAMPERED} to be tampered with`,
          found: `a plain copy of ${DEV}`,
          look: TAMPERED,
          next: "Change the expected_answer of one record in it, then run the command again.",
        });
        const { summary } = await evalRun(room, "l0_sabotage_eval_tampered", TAMPERED);
        await demandOrder(room, ["l0_build_eval", "l0_sabotage_eval_tampered"]);
        return `pass rate ${summary.metrics.pass_rate?.toFixed(4)}`;
      },
    },
    {
      id: "gate",
      title: "the gate refused it, because of the data",
      next: JUDGE,
      run: demandRefusal,
    },
    {
      id: "run-note",
      title: "the run note of the sabotage is complete",
      next: "Fill in runs/l0_sabotage_eval_tampered/README.md.",
      run: (room) => demandRunNote(room, "l0_sabotage_eval_tampered"),
    },
    commitCheck(base, "sabotage"),
    {
      id: "kata",
      title: `${KATA} classifies every outcome code`,
      next: `Write classify in ${KATA}.`,
      run: demandKata,
    },
    {
      id: "kata-tests",
      title: `${KATA_TEST} passes, and fails on a wrong kata`,
      next: `Write ${KATA_TEST} with at least three tests; tests/scoring.test.ts shows the form.`,
      run: (room) =>
        demandTests(room, KATA_TEST, 3, [
          mutant("classify answers unknown to everything", '"unknown"'),
          mutant(
            "classify calls wrong_answer a failure of format",
            'code === "wrong_answer" ? "model_format" : original.classify(code)',
          ),
          mutant(
            "classify blames the model for invalid_example",
            'code === "invalid_example" ? "model_math" : original.classify(code)',
          ),
          mutant(
            "classify calls missing_prefix arithmetic",
            'code === "missing_prefix" ? "model_math" : original.classify(code)',
          ),
        ]),
    },
    {
      id: "mental-map",
      title: `${NOTE} defines six terms and draws three loops`,
      next: `Write ${NOTE}.`,
      run: demandMap,
    },
    commitCheck(base, "fix"),
    ...historyChecks(base),
  ],
};

function mutant(name: string, expression: string): Mutant {
  return { name, file: KATA, override: { export: "classify", as: `(code) => ${expression}` } };
}

interface Row {
  readonly id: string;
  readonly expected_answer: unknown;
}

async function demandOneChange(room: Room): Promise<string> {
  const [clean, tampered] = [await jsonLines<Row>(room, DEV), await jsonLines<Row>(room, TAMPERED)];
  const look = `diff ${DEV} ${TAMPERED}`;
  demand(clean.length === tampered.length, {
    expected: `${clean.length} records, as in ${DEV}`,
    found: `${tampered.length}`,
    look,
  });
  const strip = ({ expected_answer: _, ...rest }: Row) => JSON.stringify(sorted(rest));
  const other = clean.flatMap((row, i) => {
    const twin = tampered[i] as Row;
    return strip(row) === strip(twin) ? [] : [row.id];
  });
  demand(other.length === 0, {
    expected: "nothing changed but one expected_answer",
    found: `other changes in ${other.slice(0, 3).join(", ")}`,
    look,
  });
  const changed = clean.filter(
    (row, i) =>
      JSON.stringify(row.expected_answer) !== JSON.stringify(tampered[i]?.expected_answer),
  );
  demand(changed.length === 1, {
    expected: "exactly one other expected_answer",
    found: `${changed.length}`,
    look,
  });
  return `${changed[0]?.id}`;
}

function sorted(fields: object): [string, unknown][] {
  return Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Why the gate refuses a tampered data set, and nothing else. */
const DATA_REASONS = ["dataset_bytes_differ", "examples_differ", "expected_answer_altered"];

async function demandRefusal(room: Room): Promise<string> {
  const report = await savedGate(room, GATE, ["l0_build_eval", "l0_sabotage_eval_tampered"]);
  const codes = report.reasons.map(({ code }) => code);
  const forTheData = codes.includes("expected_answer_altered");
  demand(
    report.decision === "REJECT" &&
      !report.comparable &&
      forTheData &&
      codes.every((code) => DATA_REASONS.includes(code)),
    {
      expected: "REJECT, not comparable, because an expected answer was altered",
      found: `${report.decision}: ${codes.join(", ")}`,
      look: GATE,
    },
  );
  return `REJECT: ${codes.join(", ")}`;
}

async function demandKata(room: Room): Promise<string> {
  const strange = ["", "OK", "wrong answer", "scorer_error", "missing_completion", "timeout"];
  const codes = [...OUTCOME_CODES, ...strange];
  const file = await committedFile(room, KATA);
  const answers = await call(
    room,
    file,
    KATA,
    "classify",
    codes.map((code) => [code]),
  );
  const wrong = codes.findIndex((code, i) => answers[i] !== referenceClass(code));
  demand(wrong < 0, () => ({
    expected: `classify(${JSON.stringify(codes[wrong])}) to be "${referenceClass(codes[wrong] ?? "")}"`,
    found: JSON.stringify(answers[wrong]) ?? "nothing",
    look: KATA,
  }));
  return `${codes.length} codes`;
}

async function demandMap(room: Room): Promise<string> {
  const terms = ["Reward", "Metric", "Objective", "Loss", "Policy", "Environment"];
  const least = Object.fromEntries(terms.map((term) => [term, 15]));
  const found = await demandSections(room, NOTE, { ...least, "The three loops": 6 });
  const drawing = found.get("the three loops") ?? "";
  const missing = ["Loop A", "Loop B", "Loop C", "measurement", "selection", "policy"].filter(
    (word) => !drawing.toLowerCase().includes(word.toLowerCase()),
  );
  demand(missing.length === 0, {
    expected: "Loops A, B and C with their knobs: measurement, selection, policy",
    found: `no ${missing.join(", no ")}`,
    look: NOTE,
  });
  return "seven sections";
}
