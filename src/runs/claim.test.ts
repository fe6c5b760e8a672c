import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, test } from "vitest";
import { claim, readClaim, release } from "./claim.ts";
import { RunFolder } from "./run-folder.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-claim-"));
afterAll(() => rmSync(root, { recursive: true }));
let count = 0;
const fresh = () => {
  const dir = path.join(root, String(count++));
  mkdirSync(dir);
  return dir;
};
const fileOf = (dir: string) => path.join(dir, ".running");

/** The claim that this process would make, with other parts. */
async function claimedWith(change: (parts: string[]) => void): Promise<string> {
  const dir = fresh();
  const parts = (await claim(dir, "eval")).split(" ");
  change(parts);
  rmSync(fileOf(dir));
  symlinkSync(parts.join(" "), fileOf(dir));
  return dir;
}

describe("a live claim is refused", () => {
  test("through a link to the same folder", async () => {
    const dir = fresh();
    const text = await claim(dir, "eval");
    symlinkSync(dir, `${dir}-link`);
    await expect(claim(`${dir}-link`, "eval")).rejects.toThrow(/being written by another process/);
    expect(readlinkSync(fileOf(dir))).toBe(text);
  });

  test("that a thread of this process made", async () => {
    const dir = fresh();
    // A thread may count its start a second apart from ours.
    const code = `const started = Math.round(Date.now() / 1000 - process.uptime());
      require("node:worker_threads").parentPort.postMessage(started);`;
    const started = await new Promise<number>((resolve, reject) =>
      new Worker(code, { eval: true }).on("message", resolve).on("error", reject),
    );
    const parts = (await claim(dir, "eval")).split(" ");
    expect(Math.abs(Number(parts[2]) - started)).toBeLessThanOrEqual(2);
    const other = await claimedWith((made) => made.splice(2, 1, String(started)));
    await expect(claim(other, "eval")).rejects.toMatchObject({ kind: "usage" });
  });

  test("from another place, whose processes cannot be asked", async () => {
    for (const pid of [process.pid, 99_999_999]) {
      const dir = await claimedWith((parts) => {
        parts[0] = String(pid);
        parts[3] = "elsewhere";
      });
      await expect(claim(dir, "eval")).rejects.toMatchObject({
        hint: expect.stringContaining("delete"),
      });
      expect((await readClaim(dir))?.writer).toBe(0);
    }
  });
});

test.each([
  ["our number with another start", (parts: string[]) => parts.splice(2, 1, "1000")],
  ["a process that is gone", (parts: string[]) => parts.splice(0, 1, "99999999")],
  ["our number alone, as earlier versions wrote it", (parts: string[]) => parts.splice(2)],
])("a stale claim is taken over: %s", async (_, change) => {
  const dir = await claimedWith(change);
  const text = await claim(dir, "eval");
  expect(readlinkSync(fileOf(dir))).toBe(text);
});

test("only its own claim is released", async () => {
  const dir = fresh();
  const text = await claim(dir, "eval");
  await release(dir, `${text}x`);
  expect(readlinkSync(fileOf(dir))).toBe(text);
  await release(dir, text);
  expect(await readClaim(dir)).toBeUndefined();
});

test.each(["removed", "replaced"])("a run whose claim was %s does not finish", async (how) => {
  const dir = fresh();
  const folder = await RunFolder.open(dir, "eval");
  await folder.lines("results.jsonl");
  rmSync(fileOf(dir));
  writeFileSync(path.join(dir, "summary.json"), "another's");
  if (how === "replaced") symlinkSync(`${process.ppid} eval`, fileOf(dir));
  await folder.seal();
  await expect(folder.finish({}, {})).rejects.toThrow(/no longer claimed by this run/);
  await folder.leave();
  expect(readFileSync(path.join(dir, "summary.json"), "utf8")).toBe("another's");
  expect((await readClaim(dir)) !== undefined).toBe(how === "replaced");
});

test("what is neither a link nor a file is no claim to read, and is left alone", async () => {
  const dir = fresh();
  execFileSync("mkfifo", [fileOf(dir)]);
  expect(await readClaim(dir)).toBeUndefined();
  await expect(claim(dir, "eval")).rejects.toThrow(/being written by another process/);
});
