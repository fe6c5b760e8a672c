/** The results as a matrix in Markdown, and their counts in a sentence. */

import type { SabotageResult } from "../runs/sabotage-report.ts";
import { FAMILIES } from "./sabotage.ts";

/** "4 sabotages: 2 caught, 1 of them only by verify; 1 not caught, as stated; 1 unlike the catalogue." */
export function sabotageCounts(results: readonly SabotageResult[]): string {
  const count = (holds: (result: SabotageResult) => boolean) => results.filter(holds).length;
  const caught = count(({ caught: by, as_expected }) => as_expected && by !== null);
  const verified = count(({ expected, as_expected }) => as_expected && /^verify/.test(expected));
  const stated = count(({ caught: by, as_expected }) => as_expected && by === null);
  const unlike = count(({ as_expected }) => !as_expected);
  return [
    `${results.length} ${results.length === 1 ? "sabotage" : "sabotages"}: ${caught} caught`,
    ...(verified > 0 ? [`, ${verified} of them only by verify`] : []),
    ...(stated > 0 ? [`; ${stated} not caught, as the catalogue says`] : []),
    unlike > 0 ? `; ${unlike} unlike the catalogue.` : ".",
  ].join("");
}

/** What is said of one result: the check that caught it, or that none did. */
export function verdictOf(result: SabotageResult): string {
  const { caught, as_expected, expected, also, twin } = result;
  const by = caught ? `${caught.check}: ${caught.code}` : "nothing";
  if (as_expected) return by;
  if (twin.refused) return `${by}, and the honest twin is refused too`;
  return by === expected
    ? `${by}, and before it ${also.join(", ")}`
    : `${by}, expected ${expected}`;
}

/** A table for each family. */
export function sabotageMarkdown(results: readonly SabotageResult[]): string {
  const tables = FAMILIES.flatMap((family) => {
    const own = results.filter((result) => result.family === family);
    return own.length === 0 ? [] : [table(family, own)];
  });
  return `${[...tables, sabotageCounts(results)].join("\n\n")}\n`;
}

function table(family: string, results: readonly SabotageResult[]): string {
  return [
    `## ${family[0]?.toUpperCase()}${family.slice(1)}`,
    "",
    "| sabotage | what is done | caught by | honest twin |",
    "|---|---|---|---|",
    ...results.map(
      (result) =>
        `| \`${result.name}\` | ${cell(result.trick)} | ${caughtCell(result)} | ${cell(result.honest)} ${result.twin.verdict} |`,
    ),
  ].join("\n");
}

function caughtCell(result: SabotageResult): string {
  const mark = result.as_expected ? "" : "**unlike the catalogue:** ";
  if (!result.caught) return `${mark}${cell(`nothing: ${result.because ?? verdictOf(result)}`)}`;
  const { check, code } = result.caught;
  return `${mark}${check}: \`${code}\`${result.as_expected ? "" : ` (${cell(verdictOf(result))})`}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
