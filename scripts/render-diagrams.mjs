// Draws docs/manual/diagrams/*.mmd as SVG, without a browser, and takes the numbers of the two charts
// from runs made for the purpose. `npm run diagrams` writes; a test checks that nothing would change.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureReady } from "./setup.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = path.join(root, "docs/manual/diagrams");

/** Each .mmd and .svg by name, as it should be. */
export async function renderedDiagrams() {
  ensureReady();
  const { renderDiagram } = await import("./diagrams/render.mjs");
  const files = {};
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".mmd"))) {
    const source = withRunData(name, readFileSync(path.join(folder, name), "utf8"));
    files[name] = source;
    try {
      files[name.replace(/\.mmd$/, ".svg")] = renderDiagram(source);
    } catch (error) {
      throw new Error(`${name}: ${error.message}`, { cause: error });
    }
  }
  return files;
}

/** Which run fills which chart: the values of the x axis, then of each line in order. */
const CHARTS = {
  "6-goodhart.mmd": {
    command: ["goodhart-demo", "--seed", "0"],
    table: "goodhart.csv",
    fill(rows) {
      const naive = rows.filter(({ verifier }) => verifier === "naive");
      return {
        x: naive.map(({ pressure }) => pressure),
        lines: [
          ["proxy: what the naive verifier pays", naive.map((row) => row.proxy_reward)],
          ["truth: what the strict verifier would pay", naive.map((row) => row.true_reward)],
        ],
      };
    },
  },
  "7-kl-tradeoff.mmd": {
    command: ["kl-tradeoff-demo"],
    table: "kl_tradeoff.csv",
    fill(rows) {
      const widest = Math.max(...rows.map(({ kl }) => Number(kl)));
      const drift = `drift: KL from the reference, as a share of ${widest.toFixed(2)} nats`;
      return {
        x: rows.map(({ beta }) => beta),
        lines: [
          ["expected reward", rows.map((row) => row.expected_reward)],
          [drift, rows.map(({ kl }) => kl / widest)],
        ],
      };
    },
  },
};

function withRunData(name, source) {
  const chart = CHARTS[name];
  if (chart === undefined) return source;
  const { x, lines } = chart.fill(runTable(chart.command, chart.table));
  const written = lines.map(
    ([label, values]) =>
      `  line "${label}" [${values.map((v) => Number(v).toFixed(3)).join(", ")}]`,
  );
  return source
    .replace(/^( *x-axis ".*") \[.*\]$/m, `$1 [${x.join(", ")}]`)
    .replace(/^ *line [\s\S]*$/m, `${written.join("\n")}\n`);
}

/** The rows of a CSV that a run of the command writes. */
function runTable(command, table) {
  const work = mkdtempSync(path.join(tmpdir(), "lockedroom-diagrams-"));
  const outdir = path.join(work, "run");
  try {
    const bin = path.join(root, "dist/cli/bin.js");
    const args = [bin, ...command, "--quiet", "--outdir", outdir];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${command[0]} failed: ${stderr}`);
    const [head, ...rows] = readFileSync(path.join(outdir, table), "utf8").trim().split("\n");
    const keys = head.split(",");
    return rows.map((row) => Object.fromEntries(row.split(",").map((cell, i) => [keys[i], cell])));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [name, text] of Object.entries(await renderedDiagrams())) {
    writeFileSync(path.join(folder, name), text);
  }
}
