// The floor of selection: plain Node that only parses the samples and scores each with the same
// scorer. No checks, no fingerprints, no selection, no output.
import { createReadStream } from "node:fs";
import { score } from "../dist/scorers/math-final-line.js";

const [dataset, packs] = process.argv.slice(2);

async function* rows(file) {
  let rest = "";
  for await (const chunk of createReadStream(file, {
    encoding: "utf8",
    highWaterMark: 256 * 1024,
  })) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
  if (rest) yield JSON.parse(rest);
}

const answers = rows(packs);
let passed = 0;
for await (const example of rows(dataset)) {
  for (const sample of (await answers.next()).value.samples) {
    passed += score(example, sample.completion).reward;
  }
}
console.log(passed);
