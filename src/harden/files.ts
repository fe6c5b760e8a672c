/** The files that `harden` writes, as text. */

import { visibleShort } from "../core/visible.ts";
import type { HardenReport } from "../runs/harden-report.ts";
import { goldenRow, kindsOf } from "./finds.ts";

/** Rows to accept or reject, in the format of `validate-scorer`. */
export function goldenText({ finds }: HardenReport): string {
  return lines(finds.map(goldenRow));
}

/** Edited golden rows with the reward that they get now. */
export function boundaryText({ edits }: HardenReport): string {
  return lines(
    edits.map(({ id, after, reward_after, reward_before, edit }) => ({
      ...{ id, completion: after, expected_reward: reward_after },
      note: `${edit}: the reward was ${reward_before}`,
    })),
  );
}

/** Completions that tell surviving mutants from the scorer, with the scorer's reward. */
export function survivorsText({ mutation }: HardenReport): string {
  const rows = new Map<string, object>();
  for (const { witness, operator, file, line } of mutation?.mutants ?? []) {
    if (!witness || witness.reward === null) continue;
    const { id, completion, reward } = witness;
    const key = JSON.stringify([id, completion]);
    const note = `would notice ${operator} at ${file}:${line}`;
    if (!rows.has(key)) rows.set(key, { id, completion, expected_reward: reward, note });
  }
  return lines([...rows.values()]);
}

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const code = (text: string) =>
  `\`${visibleShort(text, 60).replaceAll("`", "'").replaceAll("|", "\\|")}\``;

export function summaryText(report: HardenReport): string {
  const { scorer, finds, mutation, inputs, classes, lenient, edits, relations } = report;
  const parts = [
    `# Attacks on ${scorer.name} ${scorer.version}`,
    `${inputs.counted} inputs, seed ${report.settings.seed}. Finds: ${finds.length}.`,
    ...(report.finds_left_out > 0
      ? [
          `Kinds of attack that showed more of the same and are not listed: ${report.finds_left_out}.`,
        ]
      : []),
    ...(report.stopped === "time"
      ? ["Stopped by the time limit, so another machine may find other things."]
      : []),
    ...(report.stopped === "scorer_hangs"
      ? ["Stopped because the scorer ran over its time limit three times."]
      : []),
    "## Finds",
    table(
      ["class", "problem", "example", "completion", "why"],
      finds.map((find) => [
        [...new Set(kindsOf(find).map((kind) => kind.attack_class))].join(", "),
        find.problem,
        code(find.id),
        code(find.completion),
        visibleShort(find.why, 120).replaceAll("|", "\\|"),
      ]),
    ),
    "Accept a row of `golden.jsonl` by adding it to the golden rows and fixing the scorer; reject it by deleting it.",
    "## Attack classes",
    table(
      ["class", "tried", "finds", "other forms that pass", "why"],
      classes.map((one) => [one.name, `${one.tried}`, `${one.finds}`, `${one.lenient}`, one.why]),
    ),
    ...(lenient.length > 0
      ? [
          "## Right answers in other forms that pass",
          table(
            ["class", "form", "completion"],
            lenient.map((find) => [find.attack_class, find.attack, code(find.completion)]),
          ),
        ]
      : []),
    ...(relations.length > 0
      ? [
          "## Relations",
          table(
            ["relation", "declared", "checked", "broken"],
            relations.map((one) => [one.name, one.expect, `${one.checked}`, `${one.broken}`]),
          ),
        ]
      : []),
    ...(edits.length > 0
      ? [
          "## Edits of golden rows that change the reward",
          table(
            ["edit", "reward", "now", "completion"],
            edits.map((one) => [
              one.edit.replaceAll("|", "\\|"),
              `${one.reward_before}`,
              `${one.reward_after}`,
              code(one.after),
            ]),
          ),
        ]
      : []),
    "## Mutation score of the golden rows",
    ...(mutation ? mutationParts(mutation) : ["Not measured: no golden rows were given."]),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function mutationParts(mutation: NonNullable<HardenReport["mutation"]>): string[] {
  const { killed, survived, code_only, silent, score, refused } = mutation;
  const open = mutation.mutants.filter(({ outcome }) => outcome === "survived");
  return [
    `Noticed ${killed} of ${killed + survived} mutants${score === null ? "" : ` (${(100 * score).toFixed(1)} %)`}. On ${mutation.probes} completions ${code_only} more changed only a code, and ${silent} nothing.${refused > 0 ? ` Refused: ${refused}, which tried to write, to use the network or to start a program.` : ""}`,
    ...open.map(
      (one) =>
        `Survived: ${one.file}:${one.line}, ${one.operator} (${one.mutant})\n\n\`\`\`diff\n- ${one.before}\n+ ${one.after}\n\`\`\`\n\n${
          one.witness
            ? `${code(one.witness.completion)} gets ${one.witness.reward}, from the mutant ${one.witness.reward_of_mutant}.`
            : ""
        }`,
    ),
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "None.";
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
