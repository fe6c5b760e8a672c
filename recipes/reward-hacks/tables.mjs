// The tables of the README, made from results.json alone.
import { fixed, shownDecision, table } from "../lib.mjs";

/** Without the sign of a value that is rounded to 0. */
const two = (value) => fixed(2)(value).replace(/^-(?=0\.00$)/, "");
const fromTo = (validations, field) =>
  `${two(validations[0][field])} → ${two(validations.at(-1)[field])}`;

function trainingRow(game, name, { validations, alarms, stop }) {
  const { judge_wins, label_wins } = validations.at(-1);
  const raised = alarms.map(({ alarm, step }) => `\`${alarm}\` at ${step}`);
  return [
    ...[game, name, fromTo(validations, "score"), fromTo(validations, "reward")],
    ...[
      two(judge_wins),
      two(label_wins),
      raised.join(", ") || "none",
      `${stop.kept} of ${stop.step}`,
    ],
  ];
}

function trainingTable(games) {
  return table(
    [
      ...[
        "game",
        "judge",
        "score",
        "reward by labels",
        "wins by judge",
        "wins by labels",
        "alarms",
      ],
      "kept step",
    ],
    games.flatMap(({ game, naive, stopped, mended, continued }) => [
      trainingRow(game, "naive, alarms do not stop", naive),
      ...(stopped ? [trainingRow("", "naive", stopped)] : []),
      trainingRow("", stopped ? "mended, from the kept step" : "mended, from the start", mended),
      trainingRow("", "mended, from the hacked policy", continued),
    ]),
  );
}

function holdoutTable(games) {
  const shares = (measured) =>
    ["solved", "reward", "trick"].map((field) => two(measured[field])).join(" / ");
  return table(
    [
      ...["holdout: solved / reward / trick", "start", "naive judge", "mended judge"],
      ...["mended, from the hacked policy", "gate, claim policy"],
    ],
    games.map(({ game, holdout_tasks, holdout, gate }) => [
      `${game}, ${holdout_tasks} tasks`,
      ...["start", "naive", "mended", "continued"].map((who) => shares(holdout[who])),
      shownDecision(gate),
    ]),
  );
}

/** One task of each game, in the words of the policies. */
function examplesTable(games) {
  const shown = (text) => `\`${text.replaceAll("\n", " ⏎ ")}\``;
  return table(
    ["task", "start", "naive judge", "mended judge"],
    games.map(({ example }) =>
      ["prompt", "start", "naive", "mended"].map((who) => shown(example[who])),
    ),
  );
}

function auditTable(audits) {
  const interval = ([low, high]) => `${two(low)} to ${two(high)}`;
  return table(
    ["judge", "gain of a padded copy (95 %)", "length", "agrees with labels", "audit"],
    audits.map(({ judge, length, accuracy, trusted }) => [
      ...[`\`${judge}\``, `${two(length.effect)} (${interval(length.interval)})`, length.verdict],
      ...[two(accuracy), trusted.replace("_", " ")],
    ]),
  );
}

export function tablesOf({ games, audits }) {
  return [trainingTable(games), holdoutTable(games), examplesTable(games), auditTable(audits)].join(
    "\n\n",
  );
}
