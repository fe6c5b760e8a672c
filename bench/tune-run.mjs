// One validation for bench/tune.mjs: its time and its peak memory.
import { validateFile } from "../dist/tune/validate.js";

const [file, against] = process.argv.slice(2);
const began = performance.now();
const { rows, findings } = await validateFile(file, { against });
const seconds = (performance.now() - began) / 1000;
const memory = (process.resourceUsage().maxRSS * 1024) / 1e6;
// A file of 100,000 rows is too long for RFT; what counts here are findings in rows.
const problems = findings.filter(({ first }) => first[0]?.line !== null).length;
console.log(JSON.stringify({ seconds, rows, memory, problems }));
