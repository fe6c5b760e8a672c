import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { buildManual, publish, publishTemporarily } from "../../course/manual/index.ts";
import { out, print } from "../terminal.ts";

export const help = `Without --outdir it is written to the system's temporary folder. If the output
is not a terminal, nothing is opened and only the path is printed.

Examples:
  lockedroom manual
  lockedroom manual --no-open --outdir site`;

export function define(command: Command): void {
  command
    .description("Builds the manual as an offline site with search and opens it in the browser.")
    .option("--outdir <folder>", "output folder; new, empty, or an older manual")
    .option("--no-open", "only write it and print the path")
    .action(run);
}

async function run({ outdir, open }: { outdir?: string; open: boolean }): Promise<void> {
  const site = await buildManual();
  const dir = await (outdir === undefined
    ? publishTemporarily(site, tmpdir())
    : publish(site, path.resolve(outdir)));
  const page = path.join(dir, "index.html");
  out(page);
  if (!process.stdout.isTTY) return;
  out();
  if (!open) out("Open the file in a browser.");
  else if (await opened(page)) out("Opening it in your browser.");
  else print("No browser could be started. Open the file in a browser.");
}

/** The command that opens a file on each system. */
function opener(page: string): [program: string, ...args: string[]] | undefined {
  if (process.platform === "darwin") return ["open", page];
  if (process.platform === "win32") {
    return ["rundll32", "url.dll,FileProtocolHandler", pathToFileURL(page).href];
  }
  // Without a display, xdg-open would start a terminal browser that never ends.
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  return DISPLAY || WAYLAND_DISPLAY ? ["xdg-open", page] : undefined;
}

const WAIT_MS = 2000;

/** False when the command fails at once; one that keeps running is a browser. */
function opened(page: string): Promise<boolean> {
  const [program, ...args] = opener(page) ?? [];
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, args, { detached: true, stdio: "ignore" });
    setTimeout(() => resolve(true), WAIT_MS);
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
    child.unref();
  });
}
