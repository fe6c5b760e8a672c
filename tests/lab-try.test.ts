import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "vitest";
import { sabotagesNamed } from "../src/laboratory/catalogue/index.ts";
import { runSabotages } from "../src/laboratory/run.ts";

test("try", { timeout: 300000 }, async () => {
  const names = (process.env.LAB ?? "").split(" ").filter(Boolean);
  const dir = mkdtempSync(path.join(tmpdir(), "lab-"));
  let t = performance.now();
  for (const one of sabotagesNamed(names)) void one;
  const times: string[] = [];
  const results = await runSabotages({ dir, sabotages: sabotagesNamed(names), onDone: (_d, name) => {
    const now = performance.now(); times.push(`${name} ${(now - t).toFixed(0)}`); t = now; } });
  results.forEach((r, i) => console.log(`${r.as_expected ? "ok  " : "BAD "} ${times[i]} want ${r.expected} got ${r.caught ? r.caught.check + ": " + r.caught.code + (r.as_expected ? "" : " " + r.caught.message) : "none"} also ${r.also} twin ${r.twin.verdict} ${r.twin.refused}`));
});
