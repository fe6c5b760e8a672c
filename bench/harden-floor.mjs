// Calls the built-in scorer on so many texts, and does nothing else.
import { readFileSync } from "node:fs";
import { score } from "../dist/scorers/math-final-line.js";

const [file, count] = process.argv.slice(2);
const examples = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
let passed = 0;
for (let i = 0; i < Number(count); i++) {
  const example = examples[i % examples.length];
  const text = i % 3 === 0 ? `Final: ${example.expected_answer}` : `Final:${i % 5} ${i}`;
  passed += score(example, text).reward;
}
console.log(passed);
