/** Every name of the library's root is documented; its examples and the manual's compile and run. */

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { api, ROOT, Workspace } from "./cli.ts";

/** Name by name: the comment above its declaration. */
const comments = commentsOf("index.ts");
/** Those of the root, and of a subpath whose parts are used with the root's. */
const examples = new Map(
  [...comments, ...commentsOf("verify/index.ts")].flatMap(([name, comment]) => {
    const code = /@example\n```ts\n([\s\S]*?)\n```/.exec(comment)?.[1];
    return code === undefined ? [] : [[name, code] as const];
  }),
);

const MANUAL = path.join(ROOT, "docs/manual");
for (const page of readdirSync(MANUAL).filter((name) => name.endsWith(".md"))) {
  const text = readFileSync(path.join(MANUAL, page), "utf8");
  for (const [index, [, code = ""]] of [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].entries())
    examples.set(`${path.basename(page, ".md")}_${index + 1}`, code);
}

function commentsOf(index: string): Map<string, string> {
  const exported = /^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm;
  return new Map(
    [...source(index).matchAll(exported)].flatMap(([, names = "", file = ""]) =>
      names
        .split(",")
        .map((name) => name.replace(/\btype\b/, "").trim())
        .filter((name) => name !== "")
        .map((name) => [name, commentOf(source(path.join(path.dirname(index), file)), name)]),
    ),
  );
}

function source(file: string): string {
  return readFileSync(path.join(ROOT, "src", file), "utf8");
}

function commentOf(text: string, name: string): string {
  const declared = `export (?:async |abstract )?(?:function|const|class|interface|type) ${name}\\b`;
  const found =
    new RegExp(`/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\n${declared}`).exec(text)?.[1] ?? "";
  return found.replaceAll(/^ *\* ?/gm, "");
}

describe("the root's names", () => {
  test("are few", () => expect(comments.size).toBeLessThanOrEqual(76));

  test.each([...comments])(
    "%s says what it is, with an example or whose example it is in",
    (_, comment) => {
      expect(comment.replace(/@(example|see)[\s\S]*/, "").trim()).toMatch(/\S+ \S+/);
      const other = /@see \{@link (\w+)\}/.exec(comment)?.[1];
      if (other === undefined) expect(comment).toMatch(/@example/);
      else expect([...examples.keys()]).toContain(other);
    },
  );
});

const SUMS = [1, 2, 3].map((n) => ({ id: `sum-${n}`, prompt: `Compute ${n} + 1.`, answer: n + 1 }));
const wrong = (answer: number) => `Final: ${answer + 1}`;

/** A project that has the package installed, with small files that the examples may read. */
function project(): Workspace {
  const made = new Workspace();
  made.write("package.json", '{"type":"module"}');
  mkdirSync(made.path("node_modules/@types"), { recursive: true });
  symlinkSync(ROOT, made.path("node_modules/lockedroom"), "dir");
  symlinkSync(path.join(ROOT, "node_modules/@types/node"), made.path("node_modules/@types/node"));
  made.jsonl(
    "data/dataset.jsonl",
    SUMS.map(({ answer, ...rest }) => ({ ...rest, expected_answer: answer })),
  );
  made.jsonl(
    "data/completions.jsonl",
    SUMS.map(({ id, answer }) => ({ id, completion: wrong(answer) })),
  );
  made.jsonl(
    "data/better.jsonl",
    SUMS.map(({ id, answer }) => ({ id, completion: `Final: ${answer}` })),
  );
  made.jsonl(
    "data/samples.jsonl",
    SUMS.map(({ id, answer }) => ({ id, samples: [wrong(answer), `Final: ${answer}`] })),
  );
  made.jsonl("data/golden.jsonl", [
    { id: "sum-1", completion: "Final: 2", expected_reward: 1, note: "" },
  ]);
  made.jsonl(
    "data/texts.jsonl",
    SUMS.map(({ id, prompt, answer }) => ({ id, prompt, completion: `Final: ${answer}` })),
  );
  made.write(
    "data/policy.ts",
    "export const tieBreakKey = ({ completion }: { completion: string }) => [completion.length];",
  );
  symlinkSync(path.join(ROOT, "assets/pi0"), made.path("data/checkpoint"), "dir");
  return made;
}

/** Runs each example in a folder of its own, one after the other. */
const RUNNER = `
const failures = [];
console.log = () => {};
for (const name of process.argv.slice(2)) {
  process.chdir(new URL("run/" + name, import.meta.url).pathname);
  await import(new URL("built/" + name + ".js", import.meta.url)).catch((error) => failures.push(name + ": " + error.stack));
}
process.stdout.write(JSON.stringify(failures));
`;

describe("the examples", () => {
  const here = project();
  const run = promisify(execFile);

  beforeAll(async () => {
    const [dataset, completions] = [
      here.path("data/dataset.jsonl"),
      here.path("data/completions.jsonl"),
    ];
    await api.evaluate({ dataset, completions, outdir: here.path("data/runs/baseline") });
    await api.evaluate({
      dataset,
      completions: here.path("data/better.jsonl"),
      outdir: here.path("data/runs/candidate"),
    });
    for (const [name, code] of examples) {
      here.write(`src/${name}.ts`, code);
      cpSync(here.path("data"), here.path("run", name), { recursive: true });
    }
    const compilerOptions = {
      target: "ES2023",
      lib: ["ES2023"],
      module: "nodenext",
      types: ["node"],
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      rootDir: "src",
      outDir: "built",
    };
    here.write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src"] }));
    here.write("runner.mjs", RUNNER);
  });

  test("compile and run", async () => {
    const tsc = path.join(ROOT, "node_modules/typescript/bin/tsc");
    const compiled = await run(process.execPath, [tsc, "-p", here.path("tsconfig.json")]).catch(
      (error) => error,
    );
    expect(compiled.stdout).toBe("");
    for (const name of examples.keys())
      expect(existsSync(here.path("built", `${name}.js`))).toBe(true);
    const { stdout } = await run(process.execPath, [here.path("runner.mjs"), ...examples.keys()], {
      cwd: here.dir,
    });
    expect(JSON.parse(stdout)).toEqual([]);
  });
});
