// Documents whose commands are run: each ```console block is replaced by the same commands with
// what they really print. The README and the manual share this.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Gives `use` a folder that looks like a fresh clone to the commands, and removes it afterwards. */
export async function inFreshFolder(use) {
  const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-docs-"));
  try {
    // The built command itself: what set-up says is not part of a command's output.
    symlinkSync(path.join(root, "dist/cli/bin.js"), path.join(folder, "lockedroom"));
    for (const name of ["data", "examples", "recipes", "src"])
      symlinkSync(path.join(root, name), path.join(folder, name));
    mkdirSync(path.join(folder, "runs"));
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs all commands in order, in `folder`, and returns the text with their output filled in. */
export async function fillConsoleBlocks(text, folder) {
  // Odd parts are the insides of console blocks.
  const parts = text.split(/(?<=^|\n)```console\n([\s\S]*?)\n```(?=\n|$)/);
  for (let i = 1; i < parts.length; i += 2) {
    const shown = [];
    for (const command of commandsOf(parts[i]))
      shown.push(`$ ${command}`, ...(await outputOf(command, folder)));
    parts[i] = `\`\`\`console\n${shown.join("\n")}\n\`\`\``;
  }
  return parts.join("");
}

/** A command begins with `$ ` and goes on while a line ends in a backslash or a ' is open. */
export function commandsOf(block) {
  const commands = [];
  let open = false;
  for (const line of block.split("\n")) {
    if (open) commands[commands.length - 1] += `\n${line}`;
    else if (line.startsWith("$ ")) commands.push(line.slice(2));
    else continue;
    open = line.endsWith("\\") || commands.at(-1).split("'").length % 2 === 0;
  }
  return commands;
}

/** What a terminal of 80 columns without colour would show, as lines. */
export function outputOf(command, cwd) {
  const env = { ...process.env, NO_COLOR: "1", GITHUB_STEP_SUMMARY: "" };
  const child = spawn("bash", ["-c", command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"])
    child[name].setEncoding("utf8").on("data", (text) => {
      said[name] += text;
    });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => {
      const output = (said.stderr + said.stdout).trimEnd();
      resolve(output === "" ? [] : [output]);
    });
  });
}
