// Writes docs/seeds.md from docs/seeds.json: `npm run seeds`. tests/seeds.test.ts follows every link.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const DATA = fileURLToPath(new URL("../docs/seeds.json", import.meta.url));
export const PAGE = fileURLToPath(new URL("../docs/seeds.md", import.meta.url));

const INTRODUCTION = `# The four source documents, item by item

This project began with four documents: a mastery track, a manual, a plan of 120 days, and notes on
training with judges. They are the seeds of this page's name; it has nothing to do with random seeds.
Each row is one concrete thing that a document asks for, where it is, and what shows it: a test, a check
of a level, a question of a quiz, and for some the command to try.

\`npm run seeds\` writes this page from [\`seeds.json\`](seeds.json), and a test follows every link: the
file and the heading, name or phrase in it, the test of that title, the check of that level, the command
with its flags. A command is parsed and not run, so no row has a command alone.
`;

const STATES = {
  there: undefined,
  different: "Different on purpose",
  planned: "Planned",
};

/** The page for the data. */
export function seedsPage({ documents }) {
  const items = documents.flatMap(({ parts }) => parts.flatMap(({ items: list }) => list));
  const count = (state) => items.filter((item) => (item.state ?? "there") === state).length;
  const counts = [
    `${items.length} items: ${count("there")} as asked`,
    `${count("different")} different on purpose, with the reason`,
    `${count("planned")} planned`,
  ];
  const lines = [INTRODUCTION, `${counts.join(", ")}.`, ""];
  for (const { name, title, parts } of documents) {
    lines.push(`## ${name}: ${title}`, "");
    let number = 0;
    for (const part of parts) {
      lines.push(`### ${part.title}`, "", "| | item | where | shown by |", "|---|---|---|---|");
      for (const item of part.items) lines.push(row(`${name}.${++number}`, item));
      lines.push("");
    }
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

function row(number, { item, state = "there", why, where = [], shown = [] }) {
  const word = STATES[state];
  const remark = [word && `**${word}.**`, why].filter(Boolean).join(" ");
  const cells = [item + (remark && ` ${remark}`), where.map(linked), shown.map(linked)];
  const text = cells.map((cell) => [cell].flat().join("<br>").replaceAll("|", "\\|"));
  return `| ${number} | ${text.join(" | ")} |`;
}

/**
 * A link of the data: `$ command`, `test FILE: TITLE`, `check LEVEL ID`, `quiz LEVEL ID`, or a file with
 * `#` and a heading or name, or with ` ~ ` and a phrase that it holds.
 */
export function readLink(text) {
  const [, file, title] = /^test (\S+): (.+)$/.exec(text) ?? [];
  if (file) return { kind: "test", file, title };
  const [, kind, level, id] = /^(check|quiz) (\S+) (\S+)$/.exec(text) ?? [];
  if (kind) return { kind, level, id };
  if (text.startsWith("$ ")) return { kind: "command", words: wordsOf(text.slice(2)) };
  const [place, phrase] = text.split(" ~ ");
  const [name, anchor] = place.split("#");
  return { kind: "file", file: name, anchor, phrase };
}

/** A command line without pipes: words, and quoted ones. */
export function wordsOf(text) {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);
}

function linked(text) {
  const link = readLink(text);
  if (link.kind === "command") return `\`${text.slice(2)}\``;
  if (link.kind === "check") return `\`lockedroom check ${link.level}\`: ${link.id}`;
  if (link.kind === "quiz") return `\`lockedroom quiz ${link.level}\`: ${link.id}`;
  if (link.kind === "test") return `[${path.basename(link.file)}](../${link.file}): ${link.title}`;
  const isPage = link.file.endsWith(".md") && link.anchor !== undefined;
  const target = path.posix.relative("docs", link.file) + (isPage ? `#${link.anchor}` : "");
  const label = link.anchor !== undefined && !isPage ? link.anchor : path.basename(link.file);
  return `[${isPage || link.anchor === undefined ? label : `\`${label}\``}](${target})`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, seedsPage(JSON.parse(readFileSync(DATA, "utf8"))));
}
