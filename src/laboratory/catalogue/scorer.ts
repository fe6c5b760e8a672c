/** Sabotages of the scorer. */

import { validateScorer } from "../../loops/validate.ts";
import { jsonl, writeText } from "../files.ts";
import type { Conditions } from "../laboratory.ts";
import type { Sabotage } from "../sabotage.ts";
import { againstBaseline, byGate } from "./against-baseline.ts";
import { type ScorerText, STRICT, scorerText } from "./scorer-text.ts";

/** Any text with a digit in it. */
const LENIENT = "(example, completion) => /[0-9]/.test(completion)";

const files = (text: ScorerText, more: Readonly<Record<string, string>> = {}): Conditions => ({
  scorer: { files: { "scorer.ts": scorerText(text), ...more } },
});

const SAME_SCORER = "The same scorer for both runs.";

/** A helper beside the scorer, reached by these lines; only its own text differs. */
function helper(name: string, trick: string, before: string, file = "helper.ts"): Sabotage {
  const exported = (rule: string) =>
    file.endsWith(".cjs") ? `exports.rule = ${rule};\n` : `export const rule = ${rule};\n`;
  const scored = (rule: string) =>
    files(
      { before, rule: "(example, completion) => helper.rule(example, completion)" },
      { [file]: exported(rule) },
    );
  return againstBaseline(
    "scorer",
    { name, trick, honest: SAME_SCORER, caught: byGate("instrument_changed_without_version_bump") },
    { both: () => scored(STRICT), candidate: () => scored(LENIENT) },
  );
}

export const SCORER: readonly Sabotage[] = [
  againstBaseline(
    "scorer",
    {
      name: "other-scorer",
      trick: "Scores the candidate with a scorer of another name that accepts any digit.",
      honest: "The same scorer for both runs.",
      caught: byGate("scorer_name_differs"),
    },
    { candidate: () => files({ rule: LENIENT }) },
  ),
  againstBaseline(
    "scorer",
    {
      name: "new-scorer-version",
      trick: "Scores only the candidate with a newer, more lenient version of the scorer.",
      honest: SAME_SCORER,
      caught: byGate("scorer_version_differs"),
    },
    { both: () => files({}), candidate: () => files({ rule: LENIENT, version: "2" }) },
  ),
  againstBaseline(
    "scorer",
    {
      name: "same-version-edited",
      trick: "Makes the scorer more lenient for the candidate and leaves its version as it is.",
      honest: SAME_SCORER,
      caught: byGate("instrument_changed_without_version_bump"),
    },
    { both: () => files({}), candidate: () => files({ rule: LENIENT }) },
  ),
  helper(
    "helper-edited",
    "Leaves the scorer's file alone and makes the helper that it imports more lenient.",
    'import * as helper from "./helper.ts";',
  ),
  helper(
    "helper-by-computed-path",
    "Loads the helper by a path that is put together while the scorer runs, so that reading its text does not find it.",
    'const helper = await import(["./hel", "per", ".ts"].join(""));',
  ),
  helper(
    "helper-by-require",
    "Loads the helper with require, which an import scan does not see.",
    'import { createRequire } from "node:module"; const helper = createRequire(import.meta.url)("./helper.cjs");',
    "helper.cjs",
  ),
  againstBaseline(
    "scorer",
    {
      name: "rule-read-from-file",
      trick: "Lets the scorer read its rule from a file and changes the file between the two runs.",
      honest: SAME_SCORER,
      caught: byGate("instrument_changed_without_version_bump"),
    },
    {
      both: () => reading("strict"),
      candidate: () => reading("lenient"),
    },
  ),
  againstBaseline(
    "scorer",
    {
      name: "lenient-by-place",
      trick:
        "Accepts everything when the scorer's file lies in the folder of the candidate; its text is the same.",
      honest: SAME_SCORER,
      caught: byGate("instrument_inconsistent"),
    },
    {
      both: () => placed("scorer.ts"),
      candidate: () => placed("generous/scorer.ts"),
      honest: () => placed("strict/scorer.ts"),
    },
  ),
  againstBaseline(
    "scorer",
    {
      name: "random-scorer",
      trick:
        "Draws a random number when the scorer is loaded and runs it until the result is good.",
      honest: SAME_SCORER,
      caught: byGate("scorer_errors"),
    },
    {
      both: () => files({}),
      candidate: () =>
        files({
          before: "const mood = Math.random();",
          rule: "(example, completion) => [...(example.id + completion)].reduce((h, c) => (h * 31 + c.charCodeAt(0) * mood * 1e3) % 1e6, mood) % 2 < 1",
        }),
    },
  ),
  againstBaseline(
    "scorer",
    {
      name: "errors-for-failures",
      trick: "Throws an error for every wrong answer, so that failures drop out of the pass rate.",
      honest: SAME_SCORER,
      caught: byGate("scorer_errors"),
    },
    {
      both: () => files({}),
      candidate: () =>
        files({
          score:
            'if (!rule(example, completion)) throw new Error("unclear"); return { reward: 1, code: "right", details: {} };',
        }),
    },
  ),
  againstBaseline(
    "scorer",
    {
      name: "endless-for-failures",
      trick: "Never answers for some wrong completions, so that they are left unscored.",
      honest: SAME_SCORER,
      caught: byGate("scorer_errors"),
    },
    {
      both: () => ({ ...files({}), timeoutMs: 100 }),
      candidate: () => ({
        ...files({
          before: "let waits = 0;",
          score:
            'const good = rule(example, completion); if (!good && waits++ < 3) return new Promise(() => {}); return { reward: good ? 1 : 0, code: good ? "right" : "wrong", details: {} };',
        }),
        timeoutMs: 100,
      }),
    },
  ),
  againstBaseline(
    "scorer",
    {
      name: "reward-not-a-number",
      trick: "Returns NaN for wrong answers, which many tools leave out of a mean.",
      honest: SAME_SCORER,
      caught: byGate("scorer_errors"),
    },
    {
      both: () => files({}),
      candidate: () =>
        files({
          score:
            'const good = rule(example, completion); return { reward: good ? 1 : NaN, code: good ? "right" : "wrong", details: {} };',
        }),
    },
  ),
  golden(
    "accepts-number-anywhere",
    "Uses a scorer that accepts the right number anywhere in the text, so that a list of numbers passes.",
    '(example, completion) => new RegExp("(?<![0-9])" + example.expected_answer + "(?![0-9])").test(completion)',
  ),
  golden(
    "accepts-any-final-line",
    "Uses a scorer that looks only for the words of the format and never compares the number.",
    "(example, completion) => /^Final: -?[0-9]+$/m.test(completion)",
  ),
];

/** The scorer in a folder of its own; it is lenient where the folder says so. */
function placed(file: string): Conditions {
  const text = scorerText({
    rule: `import.meta.url.includes("/generous/") ? () => true : ${STRICT}`,
  });
  return { scorer: { files: { [file]: text } } };
}

function reading(rule: string): Conditions {
  return files(
    {
      before:
        'import { readFileSync } from "node:fs";\nconst wanted = readFileSync(new URL("./rule.txt", import.meta.url), "utf8");',
      rule: `wanted.trim() === "strict" ? ${STRICT} : ${LENIENT}`,
    },
    { "rule.txt": `${rule}\n` },
  );
}

/** A scorer that is used for both runs, where no comparison can show it: golden rows do. */
function golden(name: string, trick: string, rule: string): Sabotage {
  return {
    name,
    family: "scorer",
    trick,
    honest: "A scorer that takes the last line and compares the number.",
    caught: { check: "validate-scorer", code: "false_positive" },
    async play(lab, cheat) {
      const [example] = lab.examples(1);
      if (!example) throw new Error("the embedded task has no examples");
      const answer = Number(example.expected_answer);
      const row = (completion: string, expected_reward: number) => ({
        ...{ id: example.id, completion, expected_reward, note: "" },
      });
      const dir = lab.fresh(name);
      const scorer = await writeText(`${dir}/scorer.ts`, scorerText(cheat ? { rule } : {}));
      const rows = await writeText(
        `${dir}/golden.jsonl`,
        jsonl([
          row(`Final: ${answer}`, 1),
          row(`${answer - 1} ${answer} ${answer + 1}`, 0),
          row(`Final: ${answer + 1}`, 0),
        ]),
      );
      return lab.refusing("validate-scorer", async () => {
        const report = await validateScorer({
          ...{ dataset: await lab.dataset([example]), golden: rows, scorer },
        });
        const wrong = report.rows.filter(({ verdict }) => verdict !== "agrees");
        return {
          verdict: report.valid ? "valid" : "invalid",
          findings: wrong.map(({ golden: { completion }, verdict }) => ({
            ...{ check: "validate-scorer" as const, code: verdict },
            message: `reward for ${JSON.stringify(completion)}`,
          })),
        };
      });
    },
  };
}
