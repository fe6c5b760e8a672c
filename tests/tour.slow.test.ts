/** The whole tour, twice. */

import { expect, test } from "vitest";
import { describeRun, EXIT, Workspace } from "./cli.ts";
import { tooWide } from "./width.ts";

const LIMIT = 240_000;

test("without a terminal runs through and exits 0; a second one replaces the first", {
  timeout: 2 * LIMIT,
}, async () => {
  const place = new Workspace();
  const tour = () => place.run(["tour"], { limitMs: LIMIT });
  const first = await tour();
  expect(first, describeRun(first)).toMatchObject({ code: EXIT.ok });
  expect(first.stdout).toMatch(/REJECT/);
  expect(first.stdout).toMatch(/not comparable/);
  // The transformer has learned, and the gate says so last.
  expect(first.stdout.match(/PROMOTE|REJECT|INCONCLUSIVE/g)?.at(-1)).toBe("PROMOTE");
  // Circling pays under the naive reward alone; the finish, under the mended one alone.
  expect(first.stdout).toMatch(/boat-race-naive +exploit .*not_finished +reward 1\n/);
  expect(first.stdout).toMatch(/boat-race-naive +gold .* finished +reward 0\n/);
  expect(first.stdout).toMatch(/boat-race +exploit .*not_finished +reward 0\n/);
  expect(first.stdout).toMatch(/boat-race +gold .* finished +reward 1\n/);
  // The order in a reply moves the obedient judge alone.
  const [, honest, obedient] =
    /vague, with an order +(\d\.\d\d) +(\d\.\d\d)\n/.exec(first.stdout) ?? [];
  expect(Number(honest)).toBeLessThan(1);
  expect(obedient).toBe("1.00");
  expect(place.read("runs/tour/report.html")).toMatch(/<svg/);
  expect(tooWide(first.stdout)).toEqual([]);

  const runs = Object.keys(place.snapshot("runs/tour")).filter((name) =>
    /summary\.json/.test(name),
  );
  expect(runs.length).toBeGreaterThanOrEqual(2);
  for (const [line, path] of first.stdout.matchAll(/lockedroom inspect-run --run (\S+)/g)) {
    expect((await place.run(["inspect-run", "--run", String(path)])).code, line).toBe(EXIT.ok);
  }
  const second = await tour();
  expect(second).toMatchObject({ code: EXIT.ok, stdout: first.stdout });
});
