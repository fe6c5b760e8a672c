// Trains in a separate process: `node engine-memory.mjs nano 64 48` prints its peak memory.
import { trainingStep } from "./engine-training.mjs";

const [size, batch, length] = process.argv.slice(2);
const shape = { batch: Number(batch), length: Number(length) };
const { step, close } = await trainingStep(size, shape, { threads: 1 });
for (let i = 0; i < 3; i++) await step();
await close();
console.log(Math.round((process.resourceUsage().maxRSS * 1024) / 1e6));
