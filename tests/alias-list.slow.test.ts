/** `alias`: a damaged history hides no other, and what decided a promotion can be read. */

import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { gate } from "../src/gate/gate.ts";
import { aliasPlace } from "../src/runs/alias-history.ts";
import { artifactJson } from "../src/runs/run-folder.ts";
import { promote } from "../src/verify/promote.ts";
import { EXIT, Workspace } from "./cli.ts";
import { firstRight, makeRun } from "./gate-runs.ts";

const PI0 = { source: "pi0", identity: { kind: "checkpoint", fingerprint: "a".repeat(64) } };
const ENTRY = { policy: PI0, force: true, reason: "first" };

test("each alias is listed, and damage is named beside the others", async () => {
  const workspace = new Workspace();
  for (const name of ["good", "linked", "piped", "zebra"])
    await promote({ place: aliasPlace(workspace.path(`aliases/${name}`)), ...ENTRY });
  expect(await workspace.run(["alias"])).toMatchObject({ code: EXIT.ok, stderr: "" });
  const entry = (name: string) => workspace.path(`aliases/${name}/0001.json`);
  workspace.write("secret.txt", "root:x:0");
  rmSync(entry("linked"));
  symlinkSync(workspace.path("secret.txt"), entry("linked"));
  rmSync(entry("piped"));
  execFileSync("mkfifo", [entry("piped")]);
  const listed = await workspace.run(["alias"]);
  expect(listed.code).toBe(EXIT.data);
  expect(listed.stderr).toContain("2 of 4 aliases cannot be read: linked, piped");
  expect(listed.stdout).toMatch(/^good: pi0/m);
  expect(listed.stdout).toMatch(/^zebra: pi0/m);
  expect(listed.stdout.match(/it is not a\s+regular\s+file/g)).toHaveLength(2);
  expect(listed.stdout + listed.stderr).not.toContain("root:");
});

test("the history shows margin and interval, and whether the runs are there", async () => {
  const workspace = new Workspace();
  const made = (right: number, fingerprint: string) =>
    makeRun(workspace.dir, {
      right: firstRight(40, right),
      provenance: { policy: { kind: "checkpoint", fingerprint }, seeds_tried: 1 },
    });
  const [baseline, candidate] = [
    await made(30, "b".repeat(64)),
    await made(10, PI0.identity.fingerprint),
  ];
  const verdict = workspace.path("verdict.json");
  writeFileSync(
    verdict,
    artifactJson(await gate({ baseline, candidate, claim: "no-regression", margin: 0.99 })),
  );
  const place = aliasPlace(workspace.path("aliases/production"));
  await promote({ place, ...ENTRY, verdict });
  const shown = async () => (await workspace.run(["alias", "production"])).stdout;
  expect(await shown()).toMatch(/change +-0\.5000 \(95 % interval .*margin\s+0\.99, α 0\.05/s);
  expect(await shown()).toMatch(/runs +there; .*not checked/s);
  rmSync(candidate, { recursive: true });
  expect(await shown()).toMatch(/runs +not there: .*cannot\s+be\s+checked/s);
});
