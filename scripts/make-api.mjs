/**
 * Writes the API reference from the built types: docs/api/README.md for the root, which is committed,
 * and with --all a page for each subpath beside it; --print only prints the root's. API Extractor reads the types with a compiler of
 * its own; this file only lays out what it found.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";

const root = fileURLToPath(new URL("..", import.meta.url));
const { name, exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const subpaths = Object.keys(exports).filter((key) => exports[key].types && key !== ".");

/** What one entry point exports, as API Extractor models it. */
function modelOf(types) {
  const folder = mkdtempSync(path.join(tmpdir(), "lockedroom-api-"));
  const model = path.join(folder, "api.json");
  const compilerOptions = {
    ...{ target: "ES2023", lib: ["ES2023"], module: "nodenext", types: ["node"] },
    ...{ strict: true, skipLibCheck: true },
  };
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: path.join(root, types),
      compiler: { overrideTsconfig: { compilerOptions, files: [path.join(root, types)] } },
      docModel: { enabled: true, apiJsonFilePath: model },
      newlineKind: "lf",
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: path.join(root, "package.json"),
  });
  try {
    const { errorCount } = Extractor.invoke(config, {
      localBuild: true,
      messageCallback: (message) => {
        message.handled = message.logLevel !== "error";
      },
    });
    if (errorCount > 0) throw new Error(`${types} cannot be documented`);
    return JSON.parse(readFileSync(model, "utf8")).members[0].members;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const VALUES = new Set(["Function", "Variable", "Class"]);

/** A page of an entry point, values before types. */
function page(subpath) {
  const items = modelOf(exports[subpath].types);
  const sections = [
    ["Functions and values", items.filter(({ kind }) => VALUES.has(kind))],
    ["Types", items.filter(({ kind }) => !VALUES.has(kind))],
  ].filter(([, members]) => members.length > 0);
  const parts = [
    `# \`${nameOf(subpath)}\``,
    "Written by `npm run docs:api` from the types; do not edit.",
    ...(subpath === "." ? [others()] : []),
    ...sections.flatMap(([title, members]) => [`## ${title}`, ...members.flatMap(item)]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function nameOf(subpath) {
  return path.posix.join(name, subpath);
}

function others() {
  const names = subpaths.map((subpath) => `\`${nameOf(subpath)}\``);
  return `The rest is in subpaths: ${names.join(", ")}. \`npm run docs:api -- --all\` writes a page for each.`;
}

function item({ name: title, docComment, excerptTokens, members = [] }) {
  const { text, example, see } = comment(docComment);
  const signature = excerptTokens
    .map((token) => token.text)
    .join("")
    .replace(/^export (declare )?/, "")
    .trimEnd();
  const body = members.length > 0 ? `${signature} {\n${members.map(member).join("")}}` : signature;
  return [
    `### ${title}`,
    ...(text ? [text] : []),
    `\`\`\`ts\n${body}\n\`\`\``,
    ...(example ? [`Example:\n\n${example}`] : []),
    ...(see ? [`Example: [${see}](#${see.toLowerCase()})`] : []),
  ];
}

function member({ docComment, excerptTokens }) {
  const { text } = comment(docComment);
  const lines = excerptTokens
    .map((token) => token.text)
    .join("")
    .split("\n");
  return [...(text ? [`/** ${text.replaceAll("\n", " ")} */`] : []), ...lines]
    .map((line) => `  ${line}\n`)
    .join("");
}

function comment(raw = "") {
  const whole = raw
    .replace(/^\/\*\*|\*\/\s*$/g, "")
    .replaceAll(/^ *\* ?/gm, "")
    .trim();
  const [text = ""] = whole.split(/\n*^@/m);
  return {
    text: text.trim(),
    example: /@example\n([\s\S]*?\n```)/.exec(whole)?.[1],
    see: /@see \{@link (\w+)\}/.exec(whole)?.[1],
  };
}

const folder = path.join(root, "docs/api");
if (process.argv.includes("--print")) process.stdout.write(page("."));
else {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "README.md"), page("."));
  for (const subpath of process.argv.includes("--all") ? subpaths : [])
    writeFileSync(path.join(folder, `${path.basename(subpath)}.md`), page(subpath));
}
