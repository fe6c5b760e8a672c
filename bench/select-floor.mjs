// The floor of selection: plain Node that only parses the packs and scores every sample.
import { createReadStream } from "node:fs";

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

const FINAL = /^\s*Final: (0|-?[1-9][0-9]*)\s*$/;
const answers = rows(packs);
let passed = 0;
for await (const example of rows(dataset)) {
  const expected = String(example.expected_answer);
  for (const sample of (await answers.next()).value.samples) {
    if (FINAL.exec(sample.completion)?.[1] === expected) passed++;
  }
}
console.log(passed);
