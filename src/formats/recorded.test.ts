/**
 * Small files of every format, recorded. Their source is trajectories.jsonl beside them, episodes of
 * the scripted players of scripted.contract.ts. `npm run test:formats` reads exports of the same source
 * with the library of each format. After a wanted change: npx vitest run --project quick src/formats -u
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { exportTrajectories } from "./export.ts";
import { FORMATS } from "./formats.ts";
import { importTrajectories } from "./import.ts";

const recorded = fileURLToPath(new URL("../../tests/fixtures/trajectory-formats", import.meta.url));
const source = path.join(recorded, "trajectories.jsonl");
const room = mkdtempSync(path.join(tmpdir(), "formats-"));
afterAll(() => rmSync(room, { recursive: true, force: true }));

test.each(FORMATS.map((format) => [format.name, format] as const))(
  "%s: the recorded file is what is written, and reads back to the same bytes",
  async (name, format) => {
    const outfile = path.join(room, `${name}.jsonl`);
    const exported = await exportTrajectories(source, format, outfile);
    expect(exported).toMatchObject({ trajectories: 7, unscored: 1, failures: 1 });
    const written = readFileSync(outfile, "utf8").replaceAll(
      /"version":"\d+\.\d+\.\d+"/g,
      '"version":"0.0.0"',
    );
    if (name === "lockedroom") expect(written).toBe(readFileSync(source, "utf8"));
    else await expect(written).toMatchFileSnapshot(path.join(recorded, `${name}.jsonl`));
    const back = path.join(room, `back-${name}`);
    const { failures } = await importTrajectories(outfile, format, back);
    expect(failures).toBe(format.holdsFailures ? 1 : 0);
    const again = readFileSync(path.join(back, "trajectories.jsonl"), "utf8");
    expect(again).toBe(readFileSync(source, "utf8"));
  },
);
