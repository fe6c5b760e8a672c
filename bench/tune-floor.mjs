// The floor of bench/tune.mjs: plain Node that streams a file and only parses its lines.
import { createReadStream } from "node:fs";

const [file] = process.argv.slice(2);
let rows = 0;
const began = performance.now();
let rest = "";
for await (const chunk of createReadStream(file, { encoding: "utf8", highWaterMark: 256 * 1024 })) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) if (JSON.parse(line) !== null) rows++;
}
const seconds = (performance.now() - began) / 1000;
const memory = (process.resourceUsage().maxRSS * 1024) / 1e6;
console.log(JSON.stringify({ seconds, rows, memory, problems: 0 }));
