/** Phase 4: reference implementation, case study, talk, and the four capstone criteria. */

import path from "node:path";
import { commandsNamed, images, listItems, sections } from "../notes.ts";
import { filesBelow, realInside, textOf } from "../workspace-files.ts";
import { CASE_STUDY, essay, MIN_WORDS, tooShort } from "./case-study.ts";
import { diagnostics } from "./case-study-diagnostics.ts";
import { type Criterion, met, missing } from "./criterion.ts";
import { deliberateFailure } from "./deliberate-failure.ts";
import { problemOfAxis } from "./refusing-axis.ts";
import { reproduction } from "./reproduction.ts";

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

const regression: Criterion = {
  id: "capstone_regression",
  title: "Capstone: the gate refuses a run for an axis although its main metric rose",
  async check({ dir, runs }) {
    const problems: string[] = [];
    for (const known of runs.reports) {
      const { axes } = known.report;
      if (axes === undefined || axes.refused_by.length === 0) continue;
      const compared = await runs.compared(known);
      if (typeof compared === "string") {
        problems.push(compared);
        continue;
      }
      const { report } = compared;
      const worse = report.axes?.refused_by ?? [];
      if (
        report.decision !== "REJECT" ||
        worse.length === 0 ||
        !["PROMOTE", "PASS"].includes(report.axes?.without_axes ?? "") ||
        !((report.delta ?? 0) > 0)
      )
        continue;
      const sides = [compared.baseline.run, compared.candidate.run];
      const judged = await Promise.all(worse.map((name) => problemOfAxis(dir, name, sides)));
      if (!judged.includes(undefined)) {
        problems.push(`${known.path}: ${judged[0]}`);
        continue;
      }
      const figure = `REJECT because of ${worse.join(", ")}, although the reward rose by ${report.delta?.toFixed(4)}, which alone would ${report.axes?.without_axes}`;
      return met({ path: known.path, figure });
    }
    return missing(
      "a saved gate report in runs/ of two runs with axes, refused although the main metric rose and alone would have been accepted, by an embedded axis or by one of your own, NAME, that agrees with data/golden/NAME.jsonl",
      problems[0] ?? `${runs.reports.length} gate reports, none like that`,
      "Sample two policies on held-out examples, evaluate both with the same axes, as in eval --axis safety --axis sign=sign.ts (manual, page 25), and save the gate's report:",
      "./lockedroom gate --baseline runs/before --candidate runs/after --report runs/caught.json",
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
  ...[reference, ...CASE_STUDY, diagnostics, talk],
  ...[reproduction, deliberateFailure, regression, slides],
];
