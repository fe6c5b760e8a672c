// Trains in a separate process: `node engine-memory.mjs nano 64 48` prints its peak memory.
import { readFileSync } from "node:fs";
import { trainingStep } from "./engine-training.mjs";

const [size, batch, length] = process.argv.slice(2);
const shape = { batch: Number(batch), length: Number(length) };
const { step, close } = trainingStep(size, shape, { threads: 1 });
for (let i = 0; i < 3; i++) await step();
await close();
console.log(Math.round((peakKilobytes() * 1024) / 1e6));

/** Linux counts the memory of the process that started this one into `maxRSS`, but not into VmHWM. */
function peakKilobytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
}
