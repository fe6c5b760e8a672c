/** Phase 4: reference implementation, case study, talk, and the four capstone criteria. */

import path from "node:path";
import { commandsNamed, images, listItems, sections } from "../notes.ts";
import { filesBelow, realInside, textOf } from "../workspace-files.ts";
import { CASE, CASE_STUDY, essay, linked, MIN_WORDS, tooShort } from "./case-study.ts";
import { type Criterion, met, missing } from "./criterion.ts";

const REFERENCE = "portfolio/reference/README.md";
const TALK = "portfolio/talk.md";
const SLIDES = "portfolio/slides.md";

const reference: Criterion = {
  id: "reference_implementation",
  title: "The reference implementation, with set-up instructions",
  async check(context) {
    const expected = `${REFERENCE} with ${MIN_WORDS} words or more that names the commands to run`;
    const text = essay(context, REFERENCE);
    if (text === undefined) return tooShort(context, REFERENCE, expected);
    const known = commandsNamed(text).filter((name) => context.commands.has(name));
    if (known.length > 0) return met({ path: REFERENCE, figure: `names ${known.join(", ")}` });
    return missing(
      expected,
      "it names no command",
      "Write down each lockedroom command that it needs.",
    );
  },
};

const STORY = ["problem", "pipeline", "failure", "fix", "result", "lesson"];

const talk: Criterion = {
  id: "talk_outline",
  title: "The talk: an outline of 10 to 15 minutes",
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
  title: "Capstone: another engineer can reproduce the case study",
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
  title: "Capstone: a deliberate failure, shown and fixed",
  async check(context) {
    const expected = `a heading in ${CASE} with "Failure" in it that links to the broken run and to the fixed one`;
    const text = textOf(context.dir, CASE) ?? "";
    let most = 0;
    for (const { body } of sections(text).filter(({ heading }) =>
      /failure|sabotage/i.test(heading),
    )) {
      const { runs } = await linked(context, CASE, body);
      const different = new Set(runs.map(({ run }) => run.summary.results_sha256)).size;
      most = Math.max(most, different);
      if (different < 2) continue;
      const figure = `links to ${runs.map(({ path: name }) => name).join(" and ")}`;
      return met({ path: CASE, figure });
    }
    const next = "Link both runs below that heading; their results must differ.";
    return missing(expected, `it links to ${most} different intact runs`, next);
  },
};

const regression: Criterion = {
  id: "capstone_regression",
  title: "Capstone: the gate rejects a run whose pass rate rose",
  async check({ runs }) {
    for (const known of runs.reports) {
      if (known.report.decision !== "REJECT") continue;
      const compared = await runs.compared(known);
      if (typeof compared === "string") continue;
      const { baseline, candidate, reasons } = compared.report;
      const rise = (candidate.pass_rate ?? 0) - (baseline.pass_rate ?? 0);
      if (baseline.pass_rate === null || rise <= 0) continue;
      const figure = `REJECT (${reasons[0]?.code}) although the pass rate rose by ${rise.toFixed(4)}`;
      return met({ path: known.path, figure });
    }
    return missing(
      "a saved gate report in runs/ with REJECT although the candidate's pass rate is higher",
      `${runs.reports.length} gate reports, none like that`,
      "Compare two such runs and save the report:",
      "./lockedroom gate --baseline RUN --candidate RUN --report runs/caught.json",
    );
  },
};

const slides: Criterion = {
  id: "capstone_slides",
  title: "Capstone: slides with one or two charts and three to five lessons",
  async check({ dir }) {
    const expected = `${SLIDES} with 1 or 2 images that exist, and 3 to 5 points below a heading "Lessons"`;
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
      : missing(expected, figure, `Fix ${SLIDES}.`);
  },
};

export const PHASE_4: readonly Criterion[] = [
  ...[reference, ...CASE_STUDY, talk],
  ...[reproduction, failure, regression, slides],
];
