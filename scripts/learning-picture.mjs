// The README's picture of learning. `npm run learning-picture` runs the README's own training (half a
// minute on two cores), keeps its figures in docs/images/learning.json and draws them; with `-- --draw`
// the kept figures are drawn again without training. A test checks that the picture is that of the
// figures, and that the figures are of the command, the policy and the data that are there now.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { inFreshFolder, outputOf, root } from "./console-blocks.mjs";
import { ensureReady } from "./setup.mjs";

const PICTURE = "docs/images/learning.svg";
const FIGURES = "docs/images/learning.json";
const OUTDIR = "runs/grpo";

/** The training that a reader of the README is told to type. */
export function learningCommand(readme) {
  const [command] = /^\.\/lockedroom train grpo (?:.*\\\n)*.*$/m.exec(readme) ?? [];
  if (command === undefined) throw new Error("README.md has no ./lockedroom train grpo");
  return command.replace(/\s*\\\n\s*/g, " ");
}

/** What the picture needs of a run, in the shape in which a run is read. */
async function learn(command) {
  const { readTrainingRun } = await import("../dist/runs/read-training-run.js");
  return inFreshFolder(async (folder) => {
    const said = await outputOf(command, folder);
    const run = await readTrainingRun(path.join(folder, OUTDIR)).catch((error) => {
      throw new Error(`${command}\n${said.join("\n")}`, { cause: error });
    });
    const { init_fingerprint, inputs, settings } = run.manifest;
    const { prompts, group } = settings.rollouts;
    return {
      command,
      init_fingerprint,
      inputs: inputs.map(({ path: file, sha256 }) => ({ path: file, sha256 })),
      samples: prompts * group,
      steps: run.steps.map(({ step, values }) => ({
        step,
        values: { "reward/mean": values["reward/mean"] },
      })),
      evaluations: run.evaluations.map(({ step, examples, pass_rate, outcomes }) => ({
        ...{ step, examples, pass_rate, outcomes },
      })),
    };
  });
}

/** The curves are those of the report's page. */
export async function learningPicture(figures) {
  ensureReady();
  const { lineChart } = await import("../dist/charts/index.js");
  const { CURVES } = await import("../dist/report/training/curve-list.js");
  const curve = (title) => CURVES.find((one) => one.title === title).lines[0].points(figures);
  const { steps, samples, evaluations } = figures;
  const examples = evaluations[0].examples;
  return lineChart({
    title: `π₀ learns from the verifier: ${steps.length} updates of GRPO`,
    subtitle: `Validation: ${examples} problems it does not learn from, one sample of each, 95 % interval shaded.`,
    x: { label: "update", integer: true },
    y: { label: "share of completions", range: [0, 1] },
    series: [
      {
        label: `training: reward of an update (mean of ${samples})`,
        points: curve("Reward in training"),
        line: "none",
        slot: 4,
      },
      {
        label: "validation: passes",
        points: withEnds(curve("Pass rate on validation")),
        line: "solid",
        slot: 0,
      },
      {
        label: "validation: not in the format asked for",
        points: withEnds(evaluations.map((one) => ({ x: one.step, y: misformed(one) }))),
        line: "dashed",
        slot: 2,
      },
    ],
    width: 800,
    plotHeight: 340,
  });
}

/** The first and the last value are written beside their points. */
function withEnds(points) {
  const isEnd = (i) => i === 0 || i === points.length - 1;
  return points.map((point, i) => (isEnd(i) ? { ...point, label: point.y.toFixed(2) } : point));
}

/** All but the right answers and the wrong numbers. */
export function misformed({ outcomes: { ok = 0, wrong_answer = 0 }, examples }) {
  return (examples - ok - wrong_answer) / examples;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  ensureReady();
  const at = (name) => path.join(root, name);
  if (!process.argv.includes("--draw")) {
    const figures = await learn(learningCommand(readFileSync(at("README.md"), "utf8")));
    writeFileSync(at(FIGURES), `${JSON.stringify(figures, null, 2)}\n`);
  }
  const figures = JSON.parse(readFileSync(at(FIGURES), "utf8"));
  writeFileSync(at(PICTURE), await learningPicture(figures));
}
