// The floor: what plain Node needs to stream two files, parse, match a regular expression and
// write one row per example. No checks, no fingerprints, no artifacts.
import { createReadStream, createWriteStream } from "node:fs";

const [dataset, completions, target] = process.argv.slice(2);

async function* rows(file) {
  let rest = "";
  for await (const chunk of createReadStream(file, {
    encoding: "utf8",
    highWaterMark: 256 * 1024,
  })) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    yield lines.map((line) => JSON.parse(line));
  }
  if (rest) yield [JSON.parse(rest)];
}

const FINAL = /^\s*Final: (0|-?[1-9][0-9]*)\s*$/;
const output = createWriteStream(target);
const answers = rows(completions);
let batch = [];
let next = 0;
let passed = 0;
for await (const examples of rows(dataset)) {
  let text = "";
  for (const example of examples) {
    if (next === batch.length) {
      batch = (await answers.next()).value;
      next = 0;
    }
    const { completion } = batch[next++];
    const answer = FINAL.exec(completion)?.[1];
    const reward = answer === String(example.expected_answer) ? 1 : 0;
    passed += reward;
    text += `${JSON.stringify({ ...example, completion, reward })}\n`;
  }
  if (!output.write(text)) await new Promise((resolve) => output.once("drain", resolve));
}
await new Promise((resolve) => output.end(resolve));
console.log(passed);
