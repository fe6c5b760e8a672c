// `npm run plan-walk`: the exits of the 120-day plan can be met. Makes a workspace in a temporary folder
// and acts as a learner does: runs the command that `plan` suggests for the first criterion that is
// missing, with the files of the manual's page, and writes the texts that have no command, until every
// criterion is met but those that need a tool of a later version. A command that is suggested again
// after it was run is an error. About five minutes on two quiet cores; prints what each criterion took.
// `-- FOLDER` goes on in the folder of a walk that was interrupted.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ensureReady } from "./setup.mjs";

ensureReady();
const root = fileURLToPath(new URL("..", import.meta.url));
const { readTrainingRun, tokensUsed } = await import("../dist/runs/index.js");
const PAGE = readFileSync(path.join(root, "docs/manual/25-the-120-day-plan.md"), "utf8");

const [, , given] = process.argv;
const outside = given ?? mkdtempSync(path.join(tmpdir(), "lockedroom-plan-"));
const room = path.join(outside, "room");
const SUGGESTED = path.join(outside, "suggested.json");
if (given === undefined)
  execFileSync(process.execPath, [path.join(root, "dist/cli/bin.js"), "init", room]);
process.stderr.write(`In ${outside}\n`);

const write = (name, text) => {
  mkdirSync(path.dirname(path.join(room, name)), { recursive: true });
  writeFileSync(path.join(room, name), text);
};
const read = (name) => readFileSync(path.join(room, name), "utf8");

/** A command line as it is printed; the gate's verdicts are results, not failures. */
function run(line) {
  process.stderr.write(`${line}\n`);
  const { status, stderr } = spawnSync(line, { cwd: room, shell: true, encoding: "utf8" });
  if (status === 0 || (/ gate /.test(line) && status <= 3)) return;
  throw new Error(`${line}\nended with ${status}: ${stderr}`);
}

const json = (...args) => {
  const made = spawnSync("./lockedroom", ["plan", ...args, "--format", "json"], {
    ...{ cwd: room, shell: true, encoding: "utf8", maxBuffer: 2 ** 28 },
  });
  return { ...JSON.parse(made.stdout), code: made.status };
};

const commit = (message) => {
  execFileSync("git", ["add", "-A"], { cwd: room });
  execFileSync("git", ["commit", "-qm", message], { cwd: room });
};

/** The files that the manual shows, by the comment in their first line. */
for (const [, name, text] of PAGE.matchAll(/^```\w+\n\/\/ (\S+)\n([\s\S]*?)^```/gm))
  write(name, text);
const commandsOf = (title) =>
  new RegExp(`^\`\`\`sh\\n# ${title}\\n([\\s\\S]*?)^\`\`\``, "m")
    .exec(PAGE)?.[1]
    .replaceAll("\\\n", " ")
    .trim()
    .split("\n") ?? [];

/** Every command that a plan suggested, once. */
const suggested = existsSync(SUGGESTED) ? JSON.parse(readFileSync(SUGGESTED, "utf8")) : [];

const words = (text) =>
  `${text}\n${"This sentence stands for the words of a learner. ".repeat(30)}\n`;
const DEV = "data/datasets/math_dev.jsonl";
const SFT = `./lockedroom train sft --init pi0 --dataset runs/rft/kept.jsonl --dev ${DEV} --steps 50 --outdir runs/sft`;
const LINKED = ["sft", "dpo", "rft", "failure", "fix", "ablation"];
const link = (name) => `[${name}](../../runs/${name})`;

async function caseStudy() {
  run(SFT);
  const runs = await Promise.all(
    LINKED.map((one) => readTrainingRun(path.join(room, "runs", one))),
  );
  const tokens = runs
    .map((one) => tokensUsed(one))
    .reduce((sum, one) => sum + one.trained + one.sampled, 0);
  // In the order in which they were run; pairs and samples are what they are made of.
  const made = new RegExp(
    `--outdir runs/(?:${["samples", "pairs", ...LINKED].join("|")})$|--outdir runs/(?:${LINKED.join("|")}) `,
  );
  const steps = [...suggested, SFT].filter((line) => made.test(line));
  write(
    "portfolio/case_study/README.md",
    words(
      [
        `# Case study\n\nMethods: ${["sft", "dpo", "rft"].map(link).join(", ")}; verdict: ${link("caught.json")}.`,
        `## Failure\n\n${["failure", "fix", "ablation"].map(link).join(", ")}`,
        "## Failure modes\n\n| mode | seen | figure |\n|---|---|---|",
        "| reward hacking | not seen | 0 alarms |\n| length bias | not seen | 10.3 tokens |",
        "| refusal drift | not seen | 0 of 240 |\n| safety regressions | not seen | 0 of 240 |",
        "| mode collapse | not seen | 6 % repeated |",
        `## Cost\n\n${tokens} tokens for all runs.`,
        `## Reproduce\n\n\`\`\`sh\n${steps.join("\n")}\n\`\`\`\n\n## End`,
      ]
        .join("\n\n")
        .replaceAll("|\n\n|", "|\n|"),
    ),
  );
}

const STORY = ["Problem", "Pipeline", "Failure", "Fix", "Results", "Lessons"];

/** What a learner writes, by criterion, where `plan` has no command. */
const TEXTS = {
  run_note_written() {
    const [file, blank] = ["runs/baseline/README.md", "_yours to write[^_]*_"];
    const fill = (text, field, words) =>
      text.replace(new RegExp(`(\\*\\*${field}[^*]*\\*\\*) ${blank}`), `$1 ${words}`);
    const filled = fill(read(file), "What I expected:", "about two thirds would pass");
    write(file, fill(filled, "Repair plan:", "train the policy on the format first"));
  },
  reference_implementation: () =>
    write(
      "portfolio/reference/README.md",
      words("# Set-up\n\nRun `./lockedroom eval` and `./lockedroom train`."),
    ),
  capstone_failure: caseStudy,
  talk_outline: () =>
    write(
      "portfolio/talk.md",
      STORY.map((part) => `## ${part} (2 min)\n\nOne point.\n`).join("\n"),
    ),
  capstone_slides: () =>
    write(
      "portfolio/slides.md",
      "# Slides\n\n![curve](../runs/tradeoff/tradeoff.svg)\n\n## Lessons\n\n- one\n- two\n- three\n",
    ),
};

/** What has to be there before a suggested command can be run. */
const FIRST = {
  capstone_regression: () => commandsOf("regression").slice(0, -1).forEach(run),
  capstone_reproduction: () => commit("Case study"),
};

/** The texts link to runs, so the runs come first. */
const ORDER = ["capstone_regression", "capstone_failure"];
const place = ({ id }) => (ORDER.includes(id) ? ORDER.indexOf(id) : ORDER.length);

const took = new Map();
const tried = new Set();
const prepared = new Set();
for (;;) {
  const { phases } = json("status");
  const open = phases
    .flatMap(({ phase, criteria }) => criteria.map((one) => ({ phase, ...one })))
    .filter(({ status }) => status === "missing")
    .sort((a, b) => a.phase - b.phase || place(a) - place(b));
  const [first] = open;
  if (!first) break;
  const { id, command, found } = first;
  const action = command ?? `text of ${id}`;
  if (tried.has(`${id} ${action}`))
    throw new Error(`${id} is still missing after ${action}: ${found}`);
  tried.add(`${id} ${action}`);
  const start = Date.now();
  if (command !== undefined) {
    if (FIRST[id] && !prepared.has(id) && !/ report /.test(command)) FIRST[id]();
    prepared.add(id);
    suggested.push(command);
    writeFileSync(SUGGESTED, JSON.stringify(suggested));
    run(command);
  } else if (TEXTS[id]) await TEXTS[id]();
  else throw new Error(`${id} is missing (${found}), and there is nothing to do`);
  took.set(id, (took.get(id) ?? 0) + (Date.now() - start) / 1000);
}
commit("Everything");

const { phases } = json("status");
for (const { phase, criteria } of phases)
  for (const { id, status, evidence } of criteria) {
    console.log(
      `${phase}  ${status.padEnd(11)} ${(took.get(id) ?? 0).toFixed(0).padStart(4)} s  ${id}`,
    );
    if (evidence) console.log(`     ${evidence[0].figure}`);
  }
const advanced = json("advance");
const refused = json("advance");
const lacking = refused.missing.map(({ criterion }) => criterion.id);
console.log(
  `plan advance: phase ${advanced.left} is passed; phase ${refused.status.phase} waits for ${lacking.join(", ")}`,
);
const later = phases.flatMap(({ criteria }) => criteria).filter(({ status }) => status !== "met");
const whole = advanced.left === 0 && lacking.join() === later.map(({ id }) => id).join();
if (!whole) process.exitCode = 1;
rmSync(outside, { recursive: true });
