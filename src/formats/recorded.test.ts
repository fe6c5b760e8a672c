/**
 * Small files of every format, recorded. `npm run test:formats` reads the same files with the library
 * of each format. After a wanted change: npx vitest run --project quick src/formats -u
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import { toolCalls } from "../environments/tool-calls/tool-calls.ts";
import { exportTrajectories } from "./export.ts";
import { FORMATS } from "./formats.ts";
import { importTrajectories } from "./import.ts";
import { called, calledNatively, game, unscored } from "./scripted.contract.ts";

const recorded = fileURLToPath(new URL("../../tests/fixtures/trajectory-formats", import.meta.url));
const room = mkdtempSync(path.join(tmpdir(), "formats-"));
afterAll(() => rmSync(room, { recursive: true, force: true }));

const trajectories = [
  ...[called(0), called(3, 0), called(3, 1), calledNatively(9), calledNatively(13)],
  ...[game(0, 0), unscored(game(0, 1))],
];
const [last] = trajectories.slice(-1);
const failures = [{ id: last?.id ?? "", sample: 2, type: "timeout", message: "no answer in 30 s" }];
const manifest = {
  schema: "lockedroom.rollout@1",
  environment: { name: "tool-calls" },
  policy: { name: "scripted" },
  tools: toolCalls.tools as unknown as JsonObject[],
};

const lines = (records: readonly object[]) =>
  records.map((record) => `${canonicalJson(record)}\n`).join("");

test("the recorded trajectories are those of the scripted players", async () => {
  for (const [name, content] of [
    ["trajectories.jsonl", lines(trajectories)],
    ["failures.jsonl", lines(failures)],
    ["manifest.json", lines([manifest])],
  ] as const) {
    writeFileSync(path.join(room, name), content);
    await expect(content).toMatchFileSnapshot(path.join(recorded, name));
  }
});

test.each(FORMATS.map((format) => [format.name, format] as const))(
  "%s: the recorded file is what is written, and reads back to the same bytes",
  async (name, format) => {
    const outfile = path.join(room, `${name}.jsonl`);
    const source = path.join(room, "trajectories.jsonl");
    await exportTrajectories(source, format, outfile, { force: true });
    const written = readFileSync(outfile, "utf8").replaceAll(
      /"version":"\d+\.\d+\.\d+"/g,
      '"version":"0.0.0"',
    );
    if (name !== "lockedroom")
      await expect(written).toMatchFileSnapshot(path.join(recorded, `${name}.jsonl`));
    const back = path.join(room, `back-${name}`);
    const { failures: failed } = await importTrajectories(outfile, format, back);
    expect(failed).toBe(format.holdsFailures ? failures.length : 0);
    const again = readFileSync(path.join(back, "trajectories.jsonl"), "utf8");
    expect(again).toBe(readFileSync(source, "utf8"));
  },
);
