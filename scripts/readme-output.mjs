// Runs the README's console blocks in a folder of their own and returns the README with their real
// output filled in. `npm run readme` writes it back; a test checks that nothing would change.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureReady } from "./setup.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The README with real output, and the pictures that its runs drew, by path. */
export function withRealOutput(text) {
  ensureReady(); // What set-up says is not part of a command's output.
  const work = mkdtempSync(path.join(tmpdir(), "lockedroom-readme-"));
  for (const name of ["lockedroom", "data", "examples"])
    symlinkSync(path.join(root, name), path.join(work, name));
  try {
    const readme = text.replace(/```console\n([\s\S]*?)\n```(?=\n)/g, (_, block) => {
      const commands = block.split("\n").filter((line) => line.startsWith("$ "));
      return `\`\`\`console\n${commands.map((line) => line + run(line.slice(2), work)).join("\n")}\n\`\`\``;
    });
    return {
      readme,
      images: {
        "docs/images/goodhart.svg": readFileSync(
          path.join(work, "runs/goodhart/goodhart.svg"),
          "utf8",
        ),
      },
    };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function run(command, cwd) {
  const env = { ...process.env, NO_COLOR: "1", GITHUB_STEP_SUMMARY: "" };
  const { stdout, stderr } = spawnSync("bash", ["-c", command], { cwd, env, encoding: "utf8" });
  const output = (stderr + stdout).trimEnd();
  return output === "" ? "" : `\n${output}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const file = path.join(root, "README.md");
  const { readme, images } = withRealOutput(readFileSync(file, "utf8"));
  writeFileSync(file, readme);
  for (const [name, image] of Object.entries(images)) writeFileSync(path.join(root, name), image);
}
