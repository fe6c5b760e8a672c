import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const SLOW = "{src,tests}/**/*.slow.test.ts";
/**
 * Folders whose tests share a process: they keep nothing between files, and loading the code for each
 * file again costs a third of their time. Not those that load the engine, which changes the floating
 * point mode of its process.
 */
const SHARED =
  "src/{audit,charts,core,curves,datasets,environments,formats,gate,graders,judge,report,runs,scorers,stats}/**/*.test.ts";

export default defineConfig({
  test: {
    // The tests of tests/ run the built command, so dist has to be fresh however vitest is started.
    globalSetup: "./scripts/setup.mjs",
    reporters: ["default", "./scripts/slowest-tests.mjs"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Processes, because the code under test starts workers and child processes of its own. Never
    // fewer than two: most of them wait for a child.
    pool: "forks",
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: ["{src,tests,scripts}/**/*.test.ts"],
          exclude: [SLOW, SHARED],
        },
      },
      {
        extends: true,
        test: { name: "quick-shared", include: [SHARED], exclude: [SLOW], isolate: false },
      },
      { extends: true, test: { name: "slow", include: [SLOW] } },
    ],
  },
});
