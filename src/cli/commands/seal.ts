import type { Command } from "commander";
import { usageError } from "../../core/errors.ts";
import { makeKeys, sealRun } from "../../verify/seal.ts";
import { commandLines, out, print, program } from "../terminal.ts";

interface Flags {
  readonly key?: string;
  readonly newKey?: string;
}

export const help = `A seal shows that whoever holds the private key vouched for these bytes. It does
not show that the run is true: verify does. gate --require-seal PUBLIC.pem
refuses runs without a seal of that key.

Examples:
  lockedroom seal --new-key ci
  lockedroom seal runs/first --key ci.pem`;

export function define(command: Command): void {
  command
    .description(
      "Signs a finished run with an ed25519 key and writes seal.json into its folder; or makes a pair of keys.",
    )
    .argument("[run]", "run folder")
    .option("--key <file>", "private key, PEM")
    .option("--new-key <name>", "make NAME.pem (private) and NAME.pub.pem")
    .action(seal);
}

async function seal(run: string | undefined, { key, newKey }: Flags): Promise<void> {
  if (newKey !== undefined && run === undefined && key === undefined) return makePair(newKey);
  if (run === undefined || key === undefined || newKey !== undefined) {
    throw usageError(
      "seal takes a run and its key, or the name of a new pair of keys",
      "Use seal RUN --key FILE, or seal --new-key NAME.",
    );
  }
  print(`Sealed: ${await sealRun(run, key)}`);
}

async function makePair(name: string): Promise<void> {
  const { privateKey, publicKey } = await makeKeys(name);
  print(`Private key: ${privateKey}. Keep it secret, and outside of the repository.`);
  print(`Public key: ${publicKey}. Give it to whoever checks your seals.`);
  out(commandLines(`Next: ${program()} seal`, ["RUN", `--key ${privateKey}`]));
}
