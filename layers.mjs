/**
 * Which folder of src may import which, and which of Node's modules: the configuration of
 * dependency-cruiser. `npm run check` enforces it. What a folder may not use without an import
 * (the clock, the environment, Math.random) is in biome.json.
 */

/** What a folder may import besides itself. `cli` may import everything. */
export const mayImport = {
  core: [],
  extensions: ["core"],
  // Below scorers, which open a grader's file as they open a scorer's.
  graders: ["core", "extensions", "providers", "runs"],
  scorers: ["core", "extensions", "graders"],
  stats: ["core"],
  graph: ["core"],
  charts: ["core"],
  runs: ["core"],
  http: ["core"],
  formats: ["core", "runs"],
  tune: ["core", "runs", "formats"],
  policy: ["core", "graph", "runs"],
  engine: ["core", "graph", "policy", "runs"],
  datasets: ["core", "scorers"],
  environments: ["core", "extensions", "scorers", "datasets"],
  openenv: ["core", "environments", "http"],
  providers: ["core", "engine", "runs"],
  // Pure, for the judge that is asked and the gate that computes the findings again.
  audit: ["core", "runs", "stats", "environments"],
  judge: ["core", "runs", "providers", "stats", "http", "environments", "loops", "audit"],
  serve: ["core", "http", "policy"],
  loops: ["core", "extensions", "scorers", "runs", "stats", "charts"],
  harden: ["core", "extensions", "scorers", "runs"],
  curves: ["core", "runs", "stats", "charts"],
  learn: [
    ...["core", "extensions", "runs", "stats", "graph", "policy", "engine", "environments"],
    ...["providers", "loops", "charts", "curves"],
  ],
  gate: ["core", "runs", "scorers", "stats", "environments", "audit"],
  verify: [
    ...["core", "runs", "scorers", "loops", "policy", "engine", "environments", "learn", "gate"],
  ],
  report: ["core", "runs", "scorers", "stats", "charts", "curves", "gate"],
  laboratory: [
    ...["core", "extensions", "scorers", "stats", "graph", "charts", "runs", "http", "policy"],
    ...["engine", "datasets", "environments", "providers", "serve", "loops", "learn", "gate"],
    ...["curves", "report", "verify", "harden"],
  ],
};

/**
 * Folders that may use the file system: all artifacts are read and written by runs. The laboratory
 * damages copies of them.
 */
const mayUseFiles = ["cli", "course", "extensions", "laboratory", "runs"];

const TEST = "[.](test|contract)[.]ts$";
const FACADE = "^src/index[.]ts$";
/** What the package exports. */
const PUBLIC = [FACADE, "^src/[a-z]+/index[.]ts$"];

const inside = (...folders) => `^src/(${folders.join("|")})/`;

function forbid(name, comment, from, to) {
  return { name, comment, severity: "error", from, to };
}

const folders = Object.entries(mayImport).map(([folder, allowed]) =>
  forbid(
    `${folder}-imports`,
    `${folder} may import ${allowed.join(", ") || "no other folder"}. Take what is needed as an ` +
      "argument, or move the shared part to a folder that both may import.",
    { path: inside(folder), pathNot: TEST },
    { path: "^src/", pathNot: inside(folder, ...allowed) },
  ),
);

export default {
  forbidden: [
    ...folders,
    forbid(
      "course-imports",
      "course may import what the package exports: index.ts, or the index.ts of a folder.",
      { path: inside("course"), pathNot: TEST },
      { path: "^src/", pathNot: [inside("course"), ...PUBLIC] },
    ),
    forbid(
      "cli-is-on-top",
      "Nothing below cli may import it, not even a test: move the test to src/cli or tests.",
      { path: "^src/", pathNot: inside("cli") },
      { path: inside("cli") },
    ),
    forbid(
      "own-name",
      "Within src, import the file: the package's own name would get past these rules.",
      { path: "^src/", pathNot: TEST },
      { path: "^(lockedroom|dist)(/|$)" },
    ),
    forbid(
      "core-is-pure",
      "core has no files, network, clock or environment. Take the value as an argument.",
      { path: inside("core"), pathNot: TEST },
      { dependencyTypes: ["core"], pathNot: "^(node:)?crypto$" },
    ),
    forbid(
      "file-system",
      `Only ${mayUseFiles.join(", ")} use the file system. Take the content as an argument.`,
      { path: "^src/", pathNot: [inside(...mayUseFiles), TEST] },
      { path: "^(node:)?fs(/|$)" },
    ),
    forbid(
      "process",
      "Only cli reads the environment or ends the process. Take the value as an argument.",
      { path: "^src/", pathNot: [inside("cli"), TEST] },
      { path: "^(node:)?process$" },
    ),
    forbid(
      "cycle",
      "Files import each other in a circle. Move what they share into a file that imports neither.",
      { path: "^src/" },
      { circular: true },
    ),
    {
      name: "unknown-folder",
      comment:
        "src holds index.ts and the folders of layers.mjs. Move the file, or add its folder.",
      severity: "error",
      from: {},
      module: {
        path: "^src/",
        pathNot: [FACADE, TEST, inside("cli", "course", ...Object.keys(mayImport))],
        numberOfDependentsLessThan: 100,
      },
    },
  ],
  options: { parser: "swc", doNotFollow: "node_modules" },
};
