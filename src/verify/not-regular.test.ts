/** Pipes, sockets and folders in place of a run's files: refused by name, and nothing waits for them. */

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gate } from "../gate/gate.ts";
import { evaluate } from "../loops/eval.ts";
import { rollout } from "../loops/rollout.ts";
import { openEmbeddedPolicy } from "../policy/embedded.ts";
import { readSeal } from "../runs/seal-record.ts";
import { readVerification } from "../runs/verification.ts";
import { verify } from "./verify.ts";

const root = mkdtempSync(path.join(tmpdir(), "lockedroom-not-regular-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const at = (...names: string[]) => path.join(root, ...names);

const sampling = { temperature: 1, top_k: 0, top_p: 1, max_tokens: 12, stop: [], seed: 0 };

beforeAll(async () => {
  const rows = ["1", "2", "3"].map((id) => ({ id, prompt: "Compute 1 + 1.", expected_answer: 2 }));
  writeFileSync(at("d.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const policy = await openEmbeddedPolicy("pi0", { sampling });
  const { answers } = await rollout({
    ...{ policy, dataset: at("d.jsonl"), n: 1, outdir: at("rollout") },
  });
  await policy.close();
  await evaluate({ dataset: at("d.jsonl"), completions: answers, outdir: at("run") });
});

const pipe = (file: string) => void execFileSync("mkfifo", [file]);
const folder = (file: string) => void mkdirSync(file);
const socket = (file: string) =>
  new Promise<void>((resolve) => createServer().unref().listen(file, resolve));
const KINDS = { pipe, folder, socket } as const;

/** A copy of the run in which `name` is something else. */
async function changed(run: string, name: string, kind: keyof typeof KINDS): Promise<string> {
  const copy = at(`${kind} ${run} ${name}`);
  cpSync(at(run), copy, { recursive: true });
  rmSync(path.join(copy, name), { force: true });
  await KINDS[kind](path.join(copy, name));
  return copy;
}

const refused = (name: string) => ({
  ...{ kind: "data", message: expect.stringContaining(name) },
});

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])("a %s", (kind) => {
  test.each(["results.jsonl", "manifest.json", "summary.json"])(
    "in place of %s is refused by gate and verify",
    async (name) => {
      const candidate = await changed("run", name, kind);
      await expect(gate({ baseline: at("run"), candidate })).rejects.toMatchObject(refused(name));
      await expect(verify({ run: candidate })).rejects.toMatchObject(refused(name));
    },
  );

  test("in place of a file of a rollout is refused, or named as a difference", async () => {
    const answers = await changed("rollout", "completions.jsonl", kind);
    await expect(verify({ run: answers })).rejects.toMatchObject(refused("completions.jsonl"));
    const name = "completions.provenance.json";
    const dir = await changed("rollout", name, kind);
    const { result, parts } = await verify({ run: dir });
    expect(result).toBe("differs");
    expect(parts[0]?.first.map(({ id }) => id)).toEqual([name]);
    const completions = path.join(dir, "completions.jsonl");
    await expect(
      evaluate({ dataset: at("d.jsonl"), completions, outdir: at(`eval ${kind}`) }),
    ).rejects.toMatchObject(refused(name));
  });

  test("in place of any other file keeps nobody waiting", async () => {
    const others = readdirSync(at("run")).filter(
      (name) => !/results|manifest|summary\.json/.test(name),
    );
    expect(others.length).toBeGreaterThan(1);
    for (const name of others) {
      const candidate = await changed("run", name, kind);
      await gate({ baseline: at("run"), candidate });
      await verify({ run: candidate });
    }
  });
});

test("in place of seal.json or verification.json a pipe is refused", async () => {
  await expect(readSeal(await changed("run", "seal.json", "pipe"))).rejects.toMatchObject(
    refused("seal.json"),
  );
  const dir = await changed("run", "verification.json", "pipe");
  await expect(readVerification(dir)).rejects.toMatchObject(refused("verification.json"));
});

test("the run itself is gated and verified", async () => {
  await expect(gate({ baseline: at("run"), candidate: at("run") })).resolves.toBeDefined();
  await expect(verify({ run: at("run") })).resolves.toMatchObject({ result: "verified" });
});
