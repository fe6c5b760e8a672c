/** Phase 4: three things worth publishing, and the four tests of the capstone. */

import path from "node:path";
import type { KnownReport, KnownRun } from "../shelf.ts";
import { words } from "../words.ts";
import { filesBelow, realInside, recorded, textOf } from "../workspace-files.ts";
import { type Criterion, met, missing, type Place } from "./criterion.ts";
import { commandsNamed, images, listItems, sections, targets } from "./markdown.ts";

const REFERENCE = "portfolio/reference/README.md";
const CASE = "portfolio/case_study/README.md";
const TALK = "portfolio/talk.md";
const SLIDES = "portfolio/slides.md";
const FEWEST_WORDS = 200;
const FEWEST_ABLATIONS = 3;

/** Text of a file that has something to say, or nothing. */
function essay({ dir }: Place, file: string): string | undefined {
  const text = textOf(dir, file);
  return text !== undefined && words(text) >= FEWEST_WORDS ? text : undefined;
}

const tooShort = ({ dir }: Place, file: string, expected: string) => {
  const text = textOf(dir, file);
  const found = text === undefined ? `no ${file}` : `${file} has ${words(text)} words`;
  return missing(expected, found, `Write ${file}, ${FEWEST_WORDS} words or more.`);
};

/** Sound runs and gate reports that hold, which a text of this file links to. */
async function linked(
  { dir, shelf }: Place,
  file: string,
  text: string,
): Promise<{ runs: KnownRun[]; reports: KnownReport[] }> {
  const named = new Set(
    targets(text).flatMap((target) =>
      [path.dirname(file), "."].flatMap((from) => {
        const real = realInside(dir, path.resolve(dir, from, target));
        return real === undefined ? [] : [recorded(dir, real)];
      }),
    ),
  );
  const mentioned = ({ path: known }: { path: string }) =>
    named.has(known) || [...named].some((name) => name.startsWith(`${known}/`));
  const runs: KnownRun[] = [];
  for (const known of shelf.runs.filter(mentioned))
    if ((await shelf.problemOf(known)) === undefined) runs.push(known);
  const reports: KnownReport[] = [];
  for (const known of shelf.reports.filter(mentioned))
    if (typeof (await shelf.compared(known)) !== "string") reports.push(known);
  return { runs, reports };
}

const reference: Criterion = {
  id: "reference_implementation",
  title: "The reference implementation, with a set-up that others can follow",
  async check(place) {
    const expected = `${REFERENCE} with ${FEWEST_WORDS} words or more that names the commands to run`;
    const text = essay(place, REFERENCE);
    if (text === undefined) return tooShort(place, REFERENCE, expected);
    const known = commandsNamed(text).filter((name) => place.commands.has(name));
    if (known.length > 0) return met({ path: REFERENCE, figure: `names ${known.join(", ")}` });
    return missing(expected, "it names no command", "Write down each lockedroom command it takes.");
  },
};

const caseStudy: Criterion = {
  id: "case_study",
  title: `The case study, with ${FEWEST_ABLATIONS} ablations or more`,
  async check(place) {
    const expected = `${CASE} that links to ${FEWEST_ABLATIONS} runs or gate reports of this workspace`;
    const text = essay(place, CASE);
    if (text === undefined) return tooShort(place, CASE, expected);
    const { runs, reports } = await linked(place, CASE, text);
    const count = runs.length + reports.length;
    if (count >= FEWEST_ABLATIONS)
      return met({ path: CASE, figure: `links to ${runs.length} runs, ${reports.length} reports` });
    const next = "Link each ablation to its run or gate report, as in [name](../../runs/name).";
    return missing(expected, `it links to ${count} that hold`, next);
  },
};

const methods: Criterion = {
  id: "case_study_methods",
  title: "In it: an SFT baseline against DPO against one RL or RFT run",
  needs: ["train dpo", "train rft"],
};

const FAILURE_MODES: Readonly<Record<string, RegExp>> = {
  "reward hacking": /reward[ -]hack/i,
  "length bias": /verbos|length/i,
  "refusal drift": /refus/i,
  "safety regressions": /safety/i,
  "mode collapse": /collapse/i,
};

const diagnostics: Criterion = {
  id: "case_study_diagnostics",
  title: "In it: a table of failure modes, and what it cost",
  async check({ dir }) {
    const text = textOf(dir, CASE) ?? "";
    const rows = text.split("\n").filter((line) => /^\s*\|/.test(line));
    const table = rows.join("\n");
    const lost = Object.keys(FAILURE_MODES).filter((name) => !FAILURE_MODES[name]?.test(table));
    const cost = sections(text).find(({ heading }) => /\bcosts?\b/i.test(heading));
    const priced = /\d/.test(cost?.body ?? "");
    if (lost.length === 0 && priced)
      return met({ path: CASE, figure: "five failure modes in a table, and a cost" });
    return missing(
      `${CASE} with a table that has ${Object.keys(FAILURE_MODES).join(", ")}, and a heading "Cost" with figures`,
      lost.length > 0 ? `the table lacks ${lost.join(", ")}` : "no cost with a figure",
      `Add it to ${CASE}.`,
    );
  },
};

const STORY = ["problem", "pipeline", "failure", "fix", "result", "lesson"];

const talk: Criterion = {
  id: "talk_outline",
  title: "The talk: an outline of 10 to 15 minutes that tells one story",
  async check({ dir }) {
    const expected = `${TALK} whose headings name ${STORY.join(", ")}, with minutes that add up to 10 to 15`;
    const text = textOf(dir, TALK);
    if (text === undefined) return missing(expected, `no ${TALK}`, `Write ${TALK}.`);
    const headings = sections(text).map(({ heading }) => heading);
    const lost = STORY.filter((part) => !headings.some((one) => one.toLowerCase().includes(part)));
    if (lost.length > 0)
      return missing(expected, `no heading for ${lost.join(", ")}`, `Add it to ${TALK}.`);
    const minutes = headings.reduce((sum, one) => sum + minutesOf(one), 0);
    if (minutes >= 10 && minutes <= 15) return met({ path: TALK, figure: `${minutes} minutes` });
    const next = "Give each heading its minutes, as in: ## Problem (2 min)";
    return missing(expected, `the headings add up to ${minutes} minutes`, next);
  },
};

function minutesOf(heading: string): number {
  return Number(/(\d+(?:\.\d+)?)\s*min/i.exec(heading)?.[1] ?? 0);
}

const reproduction: Criterion = {
  id: "capstone_reproduction",
  title: "Capstone: another engineer can repeat the case study",
  async check({ dir, commands }) {
    const expected = `a heading in ${CASE} with "Reproduce" in it, and below it the lockedroom commands`;
    const steps = sections(textOf(dir, CASE) ?? "").find(({ heading }) => /reprod/i.test(heading));
    if (!steps) return missing(expected, "no such heading", `Add the steps to ${CASE}.`);
    const named = commandsNamed(steps.body);
    const unknown = named.filter((name) => !commands.has(name));
    if (named.length > 0 && unknown.length === 0)
      return met({ path: CASE, figure: `the steps run ${named.join(", ")}` });
    const found = named.length === 0 ? "the steps name no command" : `no command ${unknown[0]}`;
    return missing(expected, found, "Write each step as a command that can be copied.");
  },
};

const failure: Criterion = {
  id: "capstone_failure",
  title: "Capstone: a failure made on purpose, shown and fixed",
  async check(place) {
    const expected = `a heading in ${CASE} with "Failure" in it that links to the broken run and to the fixed one`;
    const text = textOf(place.dir, CASE) ?? "";
    let most = 0;
    for (const { body } of sections(text).filter(({ heading }) =>
      /failure|sabotage/i.test(heading),
    )) {
      const { runs } = await linked(place, CASE, body);
      const different = new Set(runs.map(({ run }) => run.summary.results_sha256)).size;
      most = Math.max(most, different);
      if (different < 2) continue;
      const figure = `links to ${runs.map(({ path: name }) => name).join(" and ")}`;
      return met({ path: CASE, figure });
    }
    const next = "Link both runs below that heading; their results must differ.";
    return missing(expected, `it links to ${most} different whole runs`, next);
  },
};

const regression: Criterion = {
  id: "capstone_regression",
  title: "Capstone: the harness refuses what a single metric would praise",
  async check({ shelf }) {
    for (const known of shelf.reports) {
      if (known.report.decision !== "REJECT") continue;
      const compared = await shelf.compared(known);
      if (typeof compared === "string") continue;
      const { baseline, candidate, reasons } = compared.report;
      const rise = (candidate.pass_rate ?? 0) - (baseline.pass_rate ?? 0);
      if (baseline.pass_rate === null || rise <= 0) continue;
      const figure = `REJECT (${reasons[0]?.code}) although the pass rate rose by ${rise.toFixed(4)}`;
      return met({ path: known.path, figure });
    }
    return missing(
      "a saved gate report in runs/ with REJECT although the candidate's pass rate is the higher one",
      `${shelf.reports.length} gate reports, none like that`,
      "Compare such a pair and save the verdict:",
      "./lockedroom gate --baseline RUN --candidate RUN --report runs/caught.json",
    );
  },
};

const slides: Criterion = {
  id: "capstone_slides",
  title: "Capstone: slides with one or two charts and three to five lessons",
  async check({ dir }) {
    const expected = `${SLIDES} with 1 or 2 pictures that exist, and 3 to 5 points below a heading "Lessons"`;
    const text = textOf(dir, SLIDES);
    if (text === undefined) {
      const others = (await filesBelow(dir, "portfolio")).filter((file) => /slides\./.test(file));
      const found = others[0] ? `${others[0]}, which cannot be read here` : `no ${SLIDES}`;
      return missing(expected, found, `Write ${SLIDES}.`);
    }
    const charts = images(text).filter((target) =>
      realInside(dir, path.resolve(dir, path.dirname(SLIDES), target)),
    ).length;
    const lessons = sections(text).find(({ heading }) => /lesson/i.test(heading));
    const points = listItems(lessons?.body ?? "");
    const figure = `${charts} charts, ${points} lessons`;
    return charts >= 1 && charts <= 2 && points >= 3 && points <= 5
      ? met({ path: SLIDES, figure })
      : missing(expected, figure, `Mend ${SLIDES}.`);
  },
};

export const PHASE_4: readonly Criterion[] = [
  ...[reference, caseStudy, methods, diagnostics, talk],
  ...[reproduction, failure, regression, slides],
];
