import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** In a process of its own: nothing there works afterwards. */
const TRIES = `
import { createRequire } from "node:module";
const { allowLoading, fixClockAndRandom, lockProcess, restartClock } = await import(process.argv[1]);
const require = createRequire("/");
const { fs, cp, net, threads } = {
  ...{ fs: require("fs"), cp: require("child_process"), net: require("net") },
  threads: require("worker_threads"),
};
const write = process.stdout.write.bind(process.stdout);
allowLoading();
fixClockAndRandom();
lockProcess();
const tries = {
  read: () => fs.readFileSync("/etc/passwd"),
  open: () => fs.openSync("/etc/passwd"),
  spawn: () => cp.spawnSync("true"),
  connect: () => net.connect(80),
  socket: () => new net.Socket(),
  thread: () => new threads.Worker("1", { eval: true }),
  binding: () => process.binding("fs"),
  builtin: () => process.getBuiltinModule("fs"),
  require: () => require("os"),
  kill: () => process.kill(process.pid, 0),
  fetch: () => fetch("http://127.0.0.1:9"),
  socketOfTheWeb: () => new WebSocket("ws://127.0.0.1:9"),
};
const open = Object.keys(tries).filter((name) => {
  try { tries[name](); return true; } catch { return false; }
});
const row = () => {
  restartClock();
  return [Date.now(), performance.now(), [...crypto.getRandomValues(new Uint8Array(4))]];
};
write(JSON.stringify({ tried: Object.keys(tries).length, open, same: String(row()) === String(row()) }));
`;

test("a process that is locked has no files, network, programs and threads", () => {
  const built = new URL("../../../dist/graders/python/lockdown.js", import.meta.url).href;
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", TRIES, built]);
  expect(JSON.parse(said.toString())).toEqual({ tried: 12, open: [], same: true });
});
