// `node recipes/reward-hacks/run.mjs`: three classic reward hacks, and one of a judge that likes length:
// learned, caught by the alarms, mended, and learned again honestly. `… run.mjs headlines` plays one.
import { existsSync } from "node:fs";
import path from "node:path";
import {
  attempt,
  gateDecision,
  lockedroom,
  outcomesOf,
  passRate,
  playHoldout,
  publish,
  readJson,
  readLines,
  runFolder,
  secondsOf,
} from "../lib.mjs";
import { startOf } from "../start-policy.mjs";
import { GAMES } from "./games.mjs";
import { publishHackChart } from "./hack-chart.mjs";
import { tablesOf } from "./tables.mjs";

const RECIPE = "reward-hacks";
const start = startOf(RECIPE);

/** Trains with a judge's scores as reward; validation goes by the labels. Returns the run folder. */
function trained(game, name, { init, judge, rubric, set = {} }) {
  const { env, labels, steps, maxTokens } = game;
  const run = runFolder(RECIPE, game.name, name);
  const length = maxTokens && {
    "rollouts.max_tokens": maxTokens,
    "evaluate.max_tokens": maxTokens,
  };
  const settings = { "stop.plateau": null, ...length, ...game.set, ...set };
  lockedroom(
    ...["train", "grpo", "--quiet", "--env", env, "--init", init, "--outdir", run, "--threads", 2],
    ...["--config", `recipes/${RECIPE}/recipe.yaml`, "--steps", steps],
    ...(labels === env ? [] : ["--validation-env", labels]),
    ...["--judge", judge, "--rubric", rubric, "--no-cache"],
    ...Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]),
  );
  return run;
}

/** Validations with what judge and labels say, alarms, and how the run ended. */
function trainingFigures(run) {
  const { stop } = readJson(run, "summary.json");
  return {
    validations: readLines(run, "evaluations.jsonl").map((row) => ({
      step: row.step,
      score: row.proxy_mean,
      reward: row.reward_mean,
      solved: row.pass_rate,
      judge_wins: row.judge.win_rate,
      label_wins: row.labels.win_rate,
    })),
    alarms: readLines(run, "alarms.jsonl").map(({ alarm, step }) => ({ alarm, step })),
    stop: { reason: stop.reason, step: stop.step, kept: stop.kept },
  };
}

function holdoutFigures(scored, { trick }) {
  const rows = readLines(scored, "results.jsonl");
  return {
    solved: passRate(scored),
    reward: readJson(scored, "summary.json").metrics.mean_reward,
    trick: rows.filter(trick).length / rows.length,
    outcomes: outcomesOf(scored),
  };
}

/** The first holdout task that the naive judge taught to trick, with what each policy wrote. */
function exampleOf(scored, { trick }) {
  const rows = mapped(scored, (folder) => readLines(folder, "results.jsonl"));
  const shows = (i) => rows.start[i].passed && trick(rows.naive[i]) && rows.mended[i].passed;
  const place = Math.max(
    0,
    rows.start.findIndex((_, i) => shows(i)),
  );
  return { prompt: rows.start[place].prompt, ...mapped(rows, (of) => answersIn(of[place])) };
}

/** Of many turns, the answers one after the other. */
function answersIn({ episode }) {
  const said = episode.messages.filter(({ role }) => role === "assistant");
  return said.map(({ content }) => content).join(" ");
}

function figuresOf(game) {
  const hacked = trained(game, "naive", {
    ...{ ...game.naive, init: start, set: { alarms_stop: false } },
  });
  const stopped = game.goesOn
    ? undefined
    : trained(game, "stopped", { ...game.naive, init: start });
  const kept = stopped ? path.join(stopped, "checkpoint") : start;
  const mended = trained(game, "mended", { ...game.mended, init: kept });
  const continued = trained(game, "continued", {
    ...{ ...game.mended, init: path.join(hacked, "checkpoint") },
  });
  const policies = { start, ...checkpointsOf({ naive: hacked, mended, continued }) };
  const scored = mapped(policies, (policy, who) =>
    playHoldout(path.join(RECIPE, game.name, `holdout-${who}`), policy, {
      ...{ env: game.labels, maxTokens: game.maxTokens ?? 32 },
    }),
  );
  const runs = { naive: hacked, ...(stopped && { stopped }), mended, continued };
  return {
    ...{ game: game.name, title: game.title },
    dev_tasks: readLines(hacked, "evaluations.jsonl")[0].examples,
    holdout_tasks: readJson(scored.start, "summary.json").metrics.n_examples,
    ...mapped(runs, trainingFigures),
    holdout: mapped(scored, (folder) => holdoutFigures(folder, game)),
    gate: gateDecision(scored.start, scored.mended),
    example: exampleOf(scored, game),
    training_seconds: Math.round(Object.values(runs).reduce((sum, run) => sum + secondsOf(run), 0)),
  };
}

const mapped = (of, look) =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, look(value, name)]));
const checkpointsOf = (runs) => mapped(runs, (run) => path.join(run, "checkpoint"));

/** What an audit says of a judge's length bias, and whether it may be trusted. */
function auditOf({ judge, rubric }, name) {
  const folder = runFolder(RECIPE, "audits", name);
  // 1: not trusted, which is a finding.
  attempt(
    [0, 1, 2],
    ...["judge-audit", "--quiet", "--judge", judge, "--rubric", rubric, "--no-cache"],
    ...["--outdir", folder],
  );
  const { trusted, findings, measures } = readJson(folder, "audit.json");
  const { verdict, effect, interval } = findings.find(({ fault }) => fault === "length");
  return {
    judge,
    trusted,
    length: { verdict, effect, interval },
    accuracy: measures.accuracy.value,
  };
}

/** Games that are named are played again, and the others keep their figures. */
function isChosen({ name }) {
  const chosen = process.argv.slice(2);
  return chosen.length === 0 || chosen.includes(name);
}

function storedFigures({ name }) {
  const stored = existsSync(new URL("results.json", import.meta.url))
    ? readJson("recipes", RECIPE, "results.json").games
    : [];
  return stored.find(({ game }) => game === name);
}

const replies = GAMES.find(({ name }) => name === "support-replies");
const audits = ["naive", "mended"].map((name) => auditOf(replies[name], name));
const games = GAMES.flatMap((game) => {
  const figures = isChosen(game) ? figuresOf(game) : storedFigures(game);
  if (figures) publishHackChart(import.meta.url, figures);
  return figures ?? [];
});
const figures = { games, audits };
publish(import.meta.url, figures, tablesOf(figures));
const seconds = games.reduce((sum, { training_seconds }) => sum + training_seconds, 0);
console.log(`\n${seconds} s of training on this machine`);
