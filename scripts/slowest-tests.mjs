/** A reporter for vitest: says at the end which test files took longest. */

const SHOWN = 5;

export default class SlowestTests {
  onTestRunEnd(modules) {
    const files = modules
      .map((module) => ({ file: module.relativeModuleId, ms: module.diagnostic().duration }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, SHOWN);
    if (files.length < 2) return;
    const lines = files.map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${file}\n`);
    process.stdout.write(`\n Slowest test files\n${lines.join("")}`);
  }
}
