// Loaded into a measured process with --import: writes its peak memory where LOCKEDROOM_BENCH_RSS says.
import { writeFileSync } from "node:fs";

const { LOCKEDROOM_BENCH_RSS: file } = process.env;
if (file)
  process.on("exit", () => writeFileSync(file, String(process.resourceUsage().maxRSS * 1024)));
