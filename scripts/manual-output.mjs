// The manual with everything in it that comes from a run: the output of its commands, and the
// numbers of its prose, each followed by a comment that names the artifact:
//
//     143<!-- runs/manual_eval/summary.json metrics.n_pass d -->
//
// is the field `metrics.n_pass` of that file after the chapter's commands have run, as an integer.
// `FILE:3` is the third line of a JSONL file. Formats: d, s, .2f, +.2f (with its sign), .1% (times
// 100). `npm run manual-output` writes the chapters back; a test checks that nothing would change.
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { fillConsoleBlocks, inFreshFolder, root } from "./console-blocks.mjs";
import { ensureReady } from "./setup.mjs";

export const manual = path.join(root, "docs/manual");

/** Pictures of the manual that its runs draw. */
export const PICTURES = { "docs/images/goodhart.svg": "runs/ch12/goodhart/goodhart.svg" };

/** The value stands directly before its comment. */
export const MARKER = /([+−]?[\w.]+)<!-- (\S+) (\S+) (\S+) -->/g;

/** Names of the pages in reading order; the contents page comes first. */
export function pageNames() {
  const names = readdirSync(manual).filter((name) => name.endsWith(".md"));
  return ["README.md", ...names.filter((name) => name !== "README.md").sort()];
}

/** A page with real output and real numbers; `use` may look at what its commands left behind. */
export async function playPage(name, use = () => {}) {
  const text = readFileSync(path.join(manual, name), "utf8");
  return inFreshFolder(async (folder) => {
    const filled = fillMarkers(await fillConsoleBlocks(text, folder), name, folder);
    await use(folder);
    return filled;
  });
}

function fillMarkers(text, page, folder) {
  return text.replace(MARKER, (_, _old, file, field, format) => {
    const value = fieldOf(folder, file, field);
    if (value === undefined) throw new Error(`${page}: no ${field} in ${file}`);
    return `${inWords(value, format)}<!-- ${file} ${field} ${format} -->`;
  });
}

/** A field of an artifact; undefined when the file or the field is not there. */
export function fieldOf(folder, place, field) {
  const [file, line] = place.split(":");
  let content;
  try {
    content = readFileSync(path.join(folder, file), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
  if (file.endsWith(".csv")) return csvField(content, line, field);
  const lines = content.split("\n");
  const record = JSON.parse(file.endsWith(".jsonl") ? (lines[(line ?? 1) - 1] ?? "{}") : content);
  return field.split(".").reduce((value, key) => value?.[key], record);
}

/** Of a CSV, the column `field` of the row that begins with `first`, or of the first row. */
function csvField(content, first, field) {
  const [head, ...rows] = content
    .trimEnd()
    .split("\n")
    .map((row) => row.split(","));
  const row = rows.find(([cell]) => first === undefined || cell === first);
  return row?.[head.indexOf(field)];
}

function inWords(value, format) {
  const [, sign, digits, unit] = /^(\+?)(?:\.(\d))?([dsf%])$/.exec(format) ?? [];
  if (unit === "s" || unit === "d") return String(value).replace("-", "−");
  if (unit === undefined) throw new Error(`unknown format ${format}`);
  const number = Number(value) * (unit === "%" ? 100 : 1);
  return `${sign && number >= 0 ? "+" : ""}${number.toFixed(Number(digits))}`.replace("-", "−");
}

/** Plays pages two at a time: most of the time goes into starting processes. */
export async function playPages(names, play) {
  ensureReady();
  const waiting = [...names];
  const lane = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await play(name);
  };
  await Promise.all([lane(), lane()]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const wanted = process.argv.slice(2);
  const names = pageNames().filter((name) => wanted.length === 0 || wanted.includes(name));
  await playPages(names, async (name) => {
    const text = await playPage(name, (folder) => {
      for (const [picture, drawn] of Object.entries(PICTURES))
        if (existsSync(path.join(folder, drawn)))
          copyFileSync(path.join(folder, drawn), path.join(root, picture));
    });
    writeFileSync(path.join(manual, name), text);
  });
}
