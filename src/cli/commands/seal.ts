import type { Command } from "commander";
import { usageError } from "../../core/errors.ts";
import { visible } from "../../core/visible.ts";
import { shortKey } from "../../gate/checked-lines.ts";
import { sealText } from "../../verify/gate-checks.ts";
import { editedIn, keyFingerprint, makeKeys, sealRun, sealState } from "../../verify/seal.ts";
import { commandLines, out, print, program } from "../terminal.ts";

interface Flags {
  readonly key?: string;
  readonly check?: string;
  readonly newKey?: string;
}

export const help = `A seal shows that whoever holds the private key vouched for these bytes. It does
not show that the run is true: verify does. gate --require-seal PUBLIC.pem
refuses runs without a seal of that key.

Exit codes of --check:
  0  the run has a valid seal of the key   1  it has not

Examples:
  lockedroom seal --new-key ci
  lockedroom seal runs/first --key ci.pem
  lockedroom seal runs/first --check ci.pub.pem`;

export function define(command: Command, exit: (code: number) => void): void {
  command
    .description(
      "Signs a finished run with an ed25519 key and writes seal.json into its folder; checks such a seal; or makes a pair of keys.",
    )
    .argument("[run]", "run folder")
    .option("--key <file>", "private key, PEM")
    .option("--check <file>", "check the seal with this public key, PEM")
    .option("--new-key <name>", "make NAME.pem (private) and NAME.pub.pem")
    .action(async (run: string | undefined, flags: Flags) => {
      const valid = await seal(run, flags);
      if (!valid) exit(1);
    });
}

/** False for a seal that was checked and is not valid. */
async function seal(run: string | undefined, { key, check, newKey }: Flags): Promise<boolean> {
  const given = [key, check, newKey].filter((flag) => flag !== undefined).length;
  if (given === 1 && newKey !== undefined && run === undefined) await makePair(newKey);
  else if (given === 1 && check !== undefined && run !== undefined) return checkSeal(run, check);
  else if (given === 1 && key !== undefined && run !== undefined)
    print(`Sealed: ${await sealRun(run, key)}`);
  else {
    throw usageError(
      "seal takes a run and a key, or the name of a new pair of keys",
      "Use seal RUN --key FILE, seal RUN --check FILE, or seal --new-key NAME.",
    );
  }
  return true;
}

/** The signature covers the hashes of the files; that the files have them is checked as well. */
async function checkSeal(run: string, publicKey: string): Promise<boolean> {
  const edited = await editedIn(run);
  const state = await sealState(run, publicKey);
  const key = shortKey(await keyFingerprint(publicKey));
  const changed = edited.length === 0 ? "" : `; edited since the run: ${edited.join(", ")}`;
  print(
    `${visible(run)}: ${await sealText(run, state)} (checked with key ${key})${visible(changed)}`,
  );
  return state === "valid" && edited.length === 0;
}

async function makePair(name: string): Promise<void> {
  const { privateKey, publicKey } = await makeKeys(name);
  print(`Private key: ${privateKey}. Keep it secret, and outside of the repository.`);
  print(`Public key: ${publicKey}. Give it to whoever checks your seals.`);
  out(commandLines(`Next: ${program()} seal`, ["RUN", `--key ${privateKey}`]));
}
