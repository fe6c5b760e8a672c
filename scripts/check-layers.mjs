/**
 * Checks src against layers.json: which folder may import which, what a folder may not use, and that
 * files do not import each other in circles. It reads tokens, not types: enough to see imports and
 * global names with comments and strings out of the way. A local variable that borrows a forbidden
 * name (`const process = …`) is reported too; choose another name.
 */

import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @typedef {{ file: string, line: number, rule: string, message: string, fix: string }} Violation
 * @typedef {{ kind: "name" | "string" | "number" | "regex" | "template" | "mark", text: string, line: number }} Token
 * @typedef {{ kind: "import" | "url", specifier: string, line: number }} Reference
 */

const FACADE = "index.ts";
const TEST_FILE = /\.(test|contract)\.([cm]?[jt]sx?)$/;
const BUILTINS = new Set(builtinModules.filter((name) => !name.startsWith("_")));

/** @returns {Violation[]} sorted by file and line; empty when the tree keeps the rules */
export function checkLayers(rootDir) {
  const rules = readRules(rootDir);
  const packageName = readPackageName(rootDir);
  const sources = listSources(rootDir).map((file) => {
    const tokens = tokenize(readFileSync(join(rootDir, file), "utf8"));
    const references = findReferences(tokens).map((reference) => ({
      ...reference,
      target: resolveReference(rootDir, file, reference.specifier, packageName),
    }));
    return { file, tokens, references, layer: layerOf(file), isTest: isTestFile(file) };
  });
  return [
    ...checkRules(rules),
    ...sources.flatMap((source) => [
      ...checkPlace(source, rules),
      ...checkImports(source, rules),
      ...checkForbidden(source, rules),
    ]),
    ...checkCycles(sources),
  ].sort((a, b) => compare(a.file, b.file) || a.line - b.line || compare(a.message, b.message));
}

export function formatViolation({ file, line, rule, message, fix }) {
  return `${file}:${line} [${rule}] ${message}\n    ${fix}`;
}

// --- the rules ------------------------------------------------------------------------------------

function readRules(rootDir) {
  const { mayImport, forbid } = JSON.parse(readFileSync(join(rootDir, "layers.json"), "utf8"));
  return { mayImport, forbid };
}

/** A name that is misspelt in layers.json would otherwise forbid, or allow, nothing. */
function checkRules({ mayImport, forbid }) {
  const lists = [...Object.values(mayImport), ...forbid.map((entry) => entry.in)];
  const unknown = new Set(
    lists.flat().filter((name) => name !== "*" && !Object.hasOwn(mayImport, bare(name))),
  );
  return [...unknown].map((name) => ({
    file: "layers.json",
    line: 1,
    rule: "unknown-folder",
    message: `"${name}" is no key of "mayImport"`,
    fix: "Correct the name, or give the folder its own entry.",
  }));
}

function checkPlace({ file, layer }, { mayImport }) {
  if (Object.hasOwn(mayImport, layer)) return [];
  const isRootFile = file.split("/").length === 2;
  return [
    {
      file,
      line: 1,
      rule: "unknown-folder",
      message: isRootFile
        ? `src holds folders and ${FACADE} only`
        : `the folder src/${layer} is not in layers.json`,
      fix: isRootFile
        ? "Move the file into the folder that owns its subject."
        : "Move the file into a folder that is, or add the folder with what it may import.",
    },
  ];
}

function checkImports({ file, layer, isTest, references }, { mayImport }) {
  if (!Object.hasOwn(mayImport, layer)) return [];
  const allowed = mayImport[layer];
  return references.flatMap(({ target, line }) => {
    if (target === undefined) return [];
    const to = layerOf(target);
    if (to === layer || (isTest ? layer === "cli" || to !== "cli" : includes(allowed, to)))
      return [];
    if (isTest) {
      return {
        file,
        line,
        rule: "test-import",
        message: `a test of ${layer} may not import cli (${target})`,
        fix: "Test through the folder's own functions, or move the test to src/cli or tests.",
      };
    }
    return {
      file,
      line,
      rule: "layer",
      message: `${layer} may not import ${to} (${target}); it may import ${describe(allowed)}`,
      fix: "Take what is needed as an argument, or move the shared part to a folder both may import.",
    };
  });
}

function checkForbidden({ file, layer, isTest, tokens, references }, { forbid }) {
  return forbid.flatMap((entry) => {
    if (!includes(entry.in, layer) || (isTest && entry.tests !== true)) return [];
    const uses = [
      ...forbiddenModules(references, entry),
      ...forbiddenGlobals(tokens, entry.globals ?? []),
    ];
    return uses.map(({ name, line }) => ({
      file,
      line,
      rule: "forbidden",
      message: `${name} may not be used here: ${entry.because}`,
      fix: `Instead, ${entry.instead}.`,
    }));
  });
}

function forbiddenModules(references, { modules = [], exceptModules = [] }) {
  return references.flatMap(({ kind, specifier, line }) => {
    if (kind !== "import") return [];
    const name = moduleName(specifier);
    const matches = modules.some((pattern) =>
      pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
    return matches && !exceptModules.includes(name) ? [{ name, line }] : [];
  });
}

/** Node's own modules by their full name, whichever way they were written. */
function moduleName(specifier) {
  return BUILTINS.has(specifier) ? `node:${specifier}` : specifier;
}

function includes(list, name) {
  if (list.includes(`!${name}`)) return false;
  return list.includes("*") || list.includes(name);
}

function describe(list) {
  if (list.length === 0) return "nothing";
  return list.map((name) => (name === "*" ? "anything" : name.replace("!", "except "))).join(", ");
}

const bare = (name) => name.replace(/^!/, "");

// --- files ----------------------------------------------------------------------------------------

function listSources(rootDir, folder = "src") {
  return readdirSync(join(rootDir, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return listSources(rootDir, path);
    return /\.[cm]?[jt]sx?$/.test(entry.name) ? [path] : [];
  });
}

/** `src/core/rng.ts` is in core; `src/index.ts` and its test are a layer of their own. */
function layerOf(file) {
  return file.split("/")[1].replace(TEST_FILE, ".$2");
}

function isTestFile(file) {
  return TEST_FILE.test(file);
}

/** The file of src that a specifier means, or undefined for packages and files elsewhere. */
function resolveReference(rootDir, from, specifier, packageName) {
  const path = specifierPath(from, specifier, packageName);
  if (path === undefined || !path.startsWith("src/")) return undefined;
  const candidates = [path, path.replace(/\.([cm]?)js(x?)$/, ".$1ts$2"), posix.join(path, FACADE)];
  return candidates.find((candidate) => isFile(join(rootDir, candidate))) ?? path;
}

function specifierPath(from, specifier, packageName) {
  if (/^\.\.?(\/|$)/.test(specifier)) {
    return posix.join(posix.dirname(from), specifier.replace(/[?#].*$/, ""));
  }
  // The package by its own name would be a way round every rule.
  if (specifier === packageName) return `src/${FACADE}`;
  if (packageName !== undefined && specifier.startsWith(`${packageName}/`)) {
    return `src/${specifier.slice(packageName.length + 1)}/index.ts`;
  }
  return undefined;
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function readPackageName(rootDir) {
  const manifest = join(rootDir, "package.json");
  return isFile(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).name : undefined;
}

// --- cycles ---------------------------------------------------------------------------------------

/** One violation for each knot of files, with a shortest way round it. Type imports count too. */
function checkCycles(sources) {
  const edges = new Map(
    sources.map(({ file, references }) => [
      file,
      // A URL starts a worker or reads a file; it does not load a module into this one.
      references.filter(({ kind, target }) => kind === "import" && target !== undefined),
    ]),
  );
  const reported = new Set();
  const violations = [];
  for (const file of [...edges.keys()].sort(compare)) {
    if (reported.has(file)) continue;
    const cycle = shortestCycle(file, edges);
    if (cycle === undefined) continue;
    for (const member of cycle) reported.add(member);
    violations.push({
      file,
      line: edges.get(file).find(({ target }) => target === cycle[1]).line,
      rule: "cycle",
      message: `files import each other in a circle: ${cycle.join(" → ")}`,
      fix: "Move what they share into a file that imports none of them.",
    });
  }
  return violations;
}

/** Breadth first from `start` back to itself. */
function shortestCycle(start, edges) {
  const cameFrom = new Map();
  const queue = [start];
  for (const file of queue) {
    for (const { target } of edges.get(file) ?? []) {
      if (target === start) return pathTo(file, cameFrom).concat(start);
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      queue.push(target);
    }
  }
  return undefined;
}

function pathTo(file, cameFrom) {
  const path = [file];
  for (let at = cameFrom.get(file); at !== undefined; at = cameFrom.get(at)) path.unshift(at);
  return path;
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// --- what a file refers to ------------------------------------------------------------------------

/** @returns {Reference[]} imports and exports with a source, import(), require() and new URL() */
function findReferences(tokens) {
  /** @type {Reference[]} */
  const references = [];
  tokens.forEach((token, index) => {
    if (token.kind !== "name" || isMark(tokens[index - 1], ".")) return;
    const found = REFERENCE_FORMS[token.text]?.(tokens, index);
    if (found === undefined) return;
    const kind = token.text === "new" ? "url" : "import";
    references.push({ kind, specifier: found.text, line: found.line });
  });
  return references;
}

/** For each word that can start a reference: the string token that names its target. */
const REFERENCE_FORMS = Object.assign(Object.create(null), {
  import(tokens, index) {
    const next = tokens[index + 1];
    if (next?.kind === "string") return next;
    return isMark(next, "(") ? callArgument(tokens, index + 1) : sourceOf(tokens, index + 1);
  },
  export(tokens, index) {
    const start = isName(tokens[index + 1], "type") ? index + 2 : index + 1;
    const isList = isMark(tokens[start], "{") || isMark(tokens[start], "*");
    return isList ? sourceOf(tokens, start) : undefined;
  },
  require(tokens, index) {
    return isMark(tokens[index + 1], "(") ? callArgument(tokens, index + 1) : undefined;
  },
  new(tokens, index) {
    const [name, open, target, ...base] = tokens.slice(index + 1, index + 10);
    const isModuleUrl = base
      .map(({ text }) => text)
      .join("")
      .startsWith(",import.meta.url");
    return isName(name, "URL") && isMark(open, "(") && target?.kind === "string" && isModuleUrl
      ? target
      : undefined;
  },
});

function callArgument(tokens, open) {
  const argument = tokens[open + 1];
  const after = tokens[open + 2];
  return argument?.kind === "string" && (isMark(after, ")") || isMark(after, ","))
    ? argument
    : undefined;
}

/** Reads over an import or export clause to `from "…"`. */
function sourceOf(tokens, start) {
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at];
    if (isName(token, "import") || isName(token, "export")) return undefined;
    if (isName(token, "from") && tokens[at + 1]?.kind === "string") return tokens[at + 1];
    const belongs = token.kind === "name" || token.kind === "string" || /^[{},*]$/.test(token.text);
    if (!belongs) return undefined;
  }
  return undefined;
}

/** Uses of `name` or `object.member`, however the member is reached. */
function forbiddenGlobals(tokens, names) {
  return names.flatMap((name) => {
    const [object, member] = name.split(".");
    return tokens.flatMap((token, index) => {
      if (!isName(token, object) || !isGlobalUse(tokens, index)) return [];
      const used = member === undefined || readsMember(tokens, index, member);
      return used ? [{ name, line: token.line }] : [];
    });
  });
}

/** False for a property (`row.process`), an object key, and the name of a method. */
function isGlobalUse(tokens, index) {
  const before = tokens[index - 1];
  if (isMark(before, ".") || isMark(before, "?.")) return isName(tokens[index - 2], "globalThis");
  const startsMember =
    before !== undefined &&
    /^([{},;*]|async|get|set|static|readonly|public|private)$/.test(before.text);
  if (!startsMember) return true;
  const after = isMark(tokens[index + 1], "?") ? index + 2 : index + 1;
  if (isMark(tokens[after], ":")) return false;
  if (!isMark(tokens[after], "(")) return true;
  const next = tokens[closing(tokens, after) + 1];
  return !(isMark(next, "{") || isMark(next, ":"));
}

/** `object.member`, `object["member"]`, or `{ member } = object`. */
function readsMember(tokens, index, member) {
  const next = tokens[index + 1];
  if (isMark(next, ".") || isMark(next, "?.")) {
    return isName(tokens[index + 2], member) || isStringIn(tokens, index + 2, member);
  }
  if (isStringIn(tokens, index + 1, member)) return true;
  if (!isMark(tokens[index - 1], "=") || !isMark(tokens[index - 2], "}")) return false;
  for (let at = index - 3; at >= 0 && !isMark(tokens[at], "{"); at--) {
    if (isName(tokens[at], member)) return true;
  }
  return false;
}

function isStringIn(tokens, bracket, text) {
  const inside = tokens[bracket + 1];
  return isMark(tokens[bracket], "[") && inside?.kind === "string" && inside.text === text;
}

function closing(tokens, open) {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (isMark(tokens[at], "(")) depth++;
    if (isMark(tokens[at], ")") && --depth === 0) return at;
  }
  return tokens.length;
}

const isMark = (token, text) => token?.kind === "mark" && token.text === text;
const isName = (token, text) => token?.kind === "name" && token.text === text;

// --- tokens ---------------------------------------------------------------------------------------

const SKIPPED = /\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|^#![^\n]*/y;
const NAME = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*/uy;
const NUMBER = /\.?\d(?:[\w.]|(?<=[eE])[+-])*/y;
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'?|"(?:[^"\\\n]|\\[\s\S])*"?/y;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
const MARK = /\?\.(?!\d)|[\s\S]/y;
const SIMPLE = [
  ["name", NAME],
  ["number", NUMBER],
  ["string", STRING],
];
const CONDITION = /^(if|while|for|with)$/;

/** @returns {Token[]} */
export function tokenize(source) {
  return new Scanner(source).scan();
}

class Scanner {
  /** @type {Token[]} */
  #tokens = [];
  #source;
  #at = 0;
  #line = 1;
  /** Braces still open: "template" for `${`, "block" for `{`. */
  #braces = [];
  /** For each parenthesis still open, whether it follows `if`, `while`, `for` or `with`. */
  #conditions = [];
  #closedCondition = false;

  constructor(source) {
    this.#source = source;
  }

  scan() {
    while (this.#at < this.#source.length) {
      if (!(this.#skip() || this.#simple() || this.#regex())) this.#mark();
    }
    return this.#tokens;
  }

  #skip() {
    const text = this.#take(SKIPPED);
    this.#countLines(text);
    return text !== "";
  }

  #simple() {
    for (const [kind, pattern] of SIMPLE) {
      const text = this.#take(pattern);
      if (text === "") continue;
      this.#push(kind, kind === "string" ? text.slice(1, -1) : text);
      return true;
    }
    return false;
  }

  #regex() {
    if (this.#source[this.#at] !== "/") return false;
    if (!regexMayStart(this.#tokens, this.#closedCondition)) return false;
    const text = this.#take(REGEX);
    if (text !== "") this.#push("regex", text);
    return text !== "";
  }

  #mark() {
    const text = this.#take(MARK);
    if (text === "`") return this.#templateText("string");
    if (text === "}" && this.#braces.pop() === "template") return this.#templateText("template");
    if (text === "{") this.#braces.push("block");
    if (text === "(") this.#conditions.push(CONDITION.test(this.#tokens.at(-1)?.text ?? ""));
    if (text === ")") this.#closedCondition = this.#conditions.pop() === true;
    this.#push("mark", text);
  }

  /** From a backquote, or the `}` of a substitution, to the next substitution or the end. */
  #templateText(kind) {
    const text = this.#take(TEMPLATE_TEXT);
    if (this.#source.startsWith("${", this.#at)) {
      this.#at += 2;
      this.#countLines(text);
      this.#push("mark", "${");
      this.#braces.push("template");
    } else {
      this.#at += 1;
      this.#push(kind, text);
    }
  }

  #take(pattern) {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0] ?? "";
    this.#at += text.length;
    return text;
  }

  #push(kind, text) {
    this.#tokens.push({ kind, text, line: this.#line });
    this.#countLines(text);
  }

  #countLines(text) {
    this.#line += text.split("\n").length - 1;
  }
}

const BEFORE_EXPRESSION =
  /^(return|typeof|instanceof|in|of|new|delete|void|throw|case|do|else|yield|await)$/;

/** Whether a slash starts a regular expression, from the token before it. */
function regexMayStart(tokens, closedCondition) {
  const before = tokens.at(-1);
  if (before === undefined) return true;
  if (before.kind === "name") return BEFORE_EXPRESSION.test(before.text);
  if (before.kind !== "mark") return false;
  if (before.text === ")") return closedCondition;
  // `x! / y` divides; `!/x/` negates.
  if (before.text === "!") return !isValueEnd(tokens.at(-2));
  return before.text !== "]";
}

function isValueEnd(token) {
  if (token?.kind === "name") return !BEFORE_EXPRESSION.test(token.text);
  return isMark(token, ")") || isMark(token, "]");
}

// --- command --------------------------------------------------------------------------------------

function main() {
  const violations = checkLayers(dirname(dirname(fileURLToPath(import.meta.url))));
  for (const violation of violations) process.stderr.write(`${formatViolation(violation)}\n`);
  if (violations.length === 0) return;
  const count = violations.length === 1 ? "1 place breaks" : `${violations.length} places break`;
  process.stderr.write(`\n${count} the rules of layers.json.\n`);
  process.exitCode = 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) main();
