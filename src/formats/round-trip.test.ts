import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, type JsonObject } from "../core/json.ts";
import type { RolloutFailure, Trajectory, TrajectoryMessage } from "../core/trajectory.ts";
import { trajectorySchema } from "../runs/trajectory-schema.ts";
import type { ExportContext, Imported } from "./format.ts";
import { FORMATS } from "./formats.ts";
import { called, calledNatively, game, unscored } from "./scripted.contract.ts";

const context: ExportContext = {
  tools: [{ name: "add", description: "adds", parameters: { type: "object" } }],
  ...{ environment: "tool-calls", policy: "scripted", version: "0.0.0" },
};

/** Through the text of a file and back. */
function throughText(
  format: (typeof FORMATS)[number],
  trajectories: readonly Trajectory[],
  failures: readonly RolloutFailure[] = [],
): Imported {
  const id = trajectories[0]?.id ?? failures[0]?.id ?? "";
  const lines = format.write({ id, trajectories, failures }, context).map(canonicalJson);
  const read = lines.map((line, i) =>
    format.read(JSON.parse(line) as JsonObject, { line: i + 1, nextSample: () => 99 }),
  );
  return {
    trajectories: read.flatMap((one) => one.trajectories),
    failures: read.flatMap((one) => one.failures),
    foreign: read.reduce((sum, one) => sum + one.foreign, 0),
  };
}

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const tokens = fc.array(fc.nat(50_000), { maxLength: 6 });
const reward = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }));
/** The schema drops a member of this name, wherever it is. */
const unsafe = (value: unknown) => JSON.stringify(value).includes("__proto__");
const object = fc
  .dictionary(text, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .filter((value) => !unsafe(value)) as fc.Arbitrary<JsonObject>;

const turn: fc.Arbitrary<TrajectoryMessage> = fc.record({
  role: fc.constant("assistant" as const),
  content: text,
  tool_calls: fc.option(
    fc.array(fc.record({ id: text, name: text, arguments: object }), { maxLength: 2 }),
    { nil: undefined },
  ),
  sampled: fc.record({
    token_ids: fc.option(tokens),
    logprobs: fc.option(fc.array(fc.double({ max: 0, noNaN: true, noDefaultInfinity: true }))),
    finish: fc.constantFrom("stop", "length", "tool_calls", "odd"),
    prompt_tokens: fc.option(fc.nat()),
    completion_tokens: fc.option(fc.nat()),
  }),
  reward,
});
const message: fc.Arbitrary<TrajectoryMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom("system" as const, "user" as const), content: text }),
  fc.record({
    role: fc.constant("tool" as const),
    content: text,
    tool_call_id: fc.option(text, { nil: undefined }),
  }),
  turn,
);
const segments = fc.array(
  fc.record({
    tokens: fc.array(fc.nat(9), { maxLength: 6 }),
    actions: fc.constantFrom([], [[0, 1]], [[1, 2]]) as fc.Arbitrary<[number, number][]>,
  }),
  { maxLength: 3 },
);
const trajectory: fc.Arbitrary<Trajectory> = fc.record({
  ...{ id: text, sample: fc.nat(100), address: fc.array(fc.oneof(fc.nat(), text)) },
  messages: fc.array(message, { maxLength: 6 }),
  segments: fc.option(segments),
  reward,
  ...{ code: text, terminated: fc.boolean() },
  metrics: fc
    .dictionary(text, fc.double({ noNaN: true, noDefaultInfinity: true }), { maxKeys: 3 })
    .filter((value) => !unsafe(value)),
  metadata: object,
  logs: fc.array(text, { maxLength: 2 }),
});

describe.each(FORMATS.map((format) => [format.name, format] as const))("%s", (_name, format) => {
  test.each([
    ["calls as text", called()],
    ["native calls", calledNatively()],
    ["a row of tokens for each turn", game()],
    ["no reward", unscored(game())],
  ])("gives back a scripted episode: %s", (_what, episode) => {
    const { trajectories, foreign } = throughText(format, [episode]);
    expect(trajectories).toEqual([episode]);
    expect(foreign).toBe(0);
  });

  test("gives back any trajectory that the schema accepts", () => {
    fc.assert(
      fc.property(trajectory, (given) => {
        const episode = JSON.parse(canonicalJson(given)) as Trajectory;
        expect(trajectorySchema.safeParse(episode).success).toBe(true);
        const [back] = throughText(format, [episode]).trajectories;
        expect(canonicalJson(back)).toBe(canonicalJson(episode));
      }),
    );
  });

  test("gives back the episodes of a task, and the failed ones where it holds them", () => {
    const group = [game(0, 0), unscored(game(0, 1)), game(0, 3)];
    const failed = [{ id: group[0]?.id ?? "", sample: 2, type: "timeout", message: "30 s" }];
    const back = throughText(format, group, failed);
    expect(back.trajectories).toEqual(group);
    expect(back.failures).toEqual(format.holdsFailures ? failed : []);
  });
});
