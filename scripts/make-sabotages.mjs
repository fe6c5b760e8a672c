// Writes docs/sabotages.md, what `lockedroom sabotage run` finds: `npm run sabotages`.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const INTRODUCTION = `# Sabotages

\`lockedroom sabotage run\` cheats on purpose, on copies, and reports which check catches it. This page
is what it prints with \`--format markdown\`; \`npm run sabotages\` writes it anew, and a test compares the two.

Each sabotage has an honest twin: the same pipeline without the trick, which must not be refused for the
same reason. The last column says what the twin does and how it ends. \`gate\` stands for a reason code of the
gate, \`alarm\` for an alarm of a training run, and an exit code for a command that refuses its input. What
\`verify\` catches fits together so well that the gate alone promotes it: only making the run again shows it
(\`gate --verified\`). What nothing catches is stated with the reason.
`;

const root = fileURLToPath(new URL("..", import.meta.url));
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  [`${root}dist/cli/bin.js`, "sabotage", "run", "--format", "markdown"],
  { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
);
if (stdout === "") throw new Error(stderr);
writeFileSync(`${root}docs/sabotages.md`, `${INTRODUCTION}\n${stdout}`);
if (status !== 0) throw new Error("something is not as the catalogue says: see docs/sabotages.md");
