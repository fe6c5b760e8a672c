/**
 * Calls an environment that is not trusted. One that throws, hangs, gives nonsense or changes its
 * answer ends the episode with `environment_error` and no reward, which is never a zero.
 */

import { z } from "zod";
import { ENVIRONMENT_ERROR, type Turn } from "../core/environment.ts";
import { dataError, LockedRoomError, messageOf } from "../core/errors.ts";
import { canonicalJson, deepFreeze, type Json } from "../core/json.ts";
import type { Example } from "../core/records.ts";
import { visibleShort } from "../core/visible.ts";
import { inScope, type Sight, scoringScope } from "../extensions/watch.ts";
import { watchUserCode } from "../extensions/watched-acts.ts";
import { withinLimit } from "../extensions/within-limit.ts";
import type { EnvironmentDefinition, Players } from "./definition.ts";

/** Two instances of the same file: the second shows whether the first keeps state of its own. */
export interface LoadedDefinition<S> {
  readonly definition: EnvironmentDefinition<S>;
  readonly again: EnvironmentDefinition<S>;
  readonly sight: Sight;
}

/**
 * The same environment; `reset` and `step` never throw and never take longer than the limit. Its tasks
 * and players may take longer, and what is wrong with them is a sentence.
 */
export function guarded<S>(
  { definition, again, sight }: LoadedDefinition<S>,
  limitMs: number,
): EnvironmentDefinition<S> {
  watchUserCode();
  const agreed = (call: (one: EnvironmentDefinition<S>) => unknown, before: S): Turn<S> => {
    const scope = scoringScope(sight, true);
    const answer = (one: EnvironmentDefinition<S>) =>
      inScope(scope, () => answered(() => call(one), definition, limitMs));
    const first = answer(definition);
    const second = "problem" in first ? first : answer(again);
    if (scope.refused !== undefined) return broken(before, scope.refused);
    if ("problem" in second) return broken(before, second.problem);
    if ("problem" in first || canonicalJson(first.turn) !== canonicalJson(second.turn)) {
      return broken(before, "it is not deterministic: two calls with the same input differ");
    }
    return first.turn as unknown as Turn<S>;
  };
  const called = <T>(what: string, call: () => T): T =>
    inScope(scoringScope(sight, true), () =>
      plainCall(`${definition.name}: ${what}`, call, limitMs),
    );
  const player = (name: keyof Players<S>) => {
    const own = definition.players[name];
    return own && ((state: S) => String(called(`players.${name}`, () => own(deepFreeze(state)))));
  };
  const [gold, idle, exploit] = [player("gold"), player("idle"), player("exploit")];
  return {
    ...definition,
    players: {
      idle: idle as Players<S>["idle"],
      ...(gold && { gold }),
      ...(exploit && { exploit }),
    },
    tasks: (split) =>
      called(`tasks("${split}")`, () => requireTasks(definition.tasks(split), definition.name)),
    reset: (task, seed) => agreed((one) => one.reset(deepFreeze(task), seed), null as S),
    step: (state, action) => agreed((one) => one.step(deepFreeze(state), action), state),
  };
}

/** Tasks may be made, and a player may search: more time than a step has. */
const LONGER = 10;

/** A call whose answer is no turn: what goes wrong there is an error of the whole command. */
function plainCall<T>(what: string, call: () => T, limitMs: number): T {
  const limit = limitMs * LONGER;
  let found: { readonly value: T } | undefined;
  try {
    withinLimit(() => {
      found = { value: call() };
    }, limit);
  } catch (error) {
    if (error instanceof LockedRoomError) throw error;
    throw notSound(`${what} threw: ${visibleShort(messageOf(error), 200)}`);
  }
  if (found) return found.value;
  throw notSound(`${what} did not answer within ${limit / 1000} s`);
}

const TASKS = z.array(z.looseObject({ id: z.string(), prompt: z.string() }));

/** As plain data, which the environment cannot change later. */
function requireTasks(tasks: unknown, name: string): readonly Example[] {
  const plain: unknown = JSON.parse(canonicalJson(tasks as Json));
  if (TASKS.safeParse(plain).success) return plain as Example[];
  throw notSound(`${name}: its tasks are no list of objects with an id and a prompt`);
}

function notSound(problem: string): LockedRoomError {
  return dataError(problem, "Correct the environment's file.");
}

type Answered = { readonly turn: Json } | { readonly problem: string };

/** The turn as plain data, which no later call can change. */
function answered(
  call: () => unknown,
  { codes }: Pick<EnvironmentDefinition, "codes">,
  limitMs: number,
): Answered {
  let found: Answered = { problem: `it did not answer within ${limitMs / 1000} s` };
  try {
    withinLimit(() => {
      const turn = JSON.parse(canonicalJson(call() as Json)) as Json;
      const problem = problemOf(turn, codes);
      found = problem === undefined ? { turn } : { problem };
    }, limitMs);
  } catch (error) {
    return { problem: `it threw: ${visibleShort(messageOf(error), 200)}` };
  }
  return found;
}

function problemOf(turn: Json, codes: readonly string[]): string | undefined {
  const read = TURN.safeParse(turn);
  if (!read.success) return `its turn is not valid: ${read.error.issues[0]?.message}`;
  const { end } = read.data;
  if (end && !codes.includes(end.code)) return `it ended with ${end.code}, not one of its codes`;
  return undefined;
}

const TURN = z.object({
  state: z.json(),
  observation: z.array(
    z.object({ role: z.enum(["system", "user", "assistant", "tool"]), content: z.string() }),
  ),
  reward: z.number().nullable(),
  metrics: z.record(z.string(), z.number()).optional(),
  end: z
    .object({ code: z.string(), terminated: z.boolean(), details: z.record(z.string(), z.json()) })
    .optional(),
});

function broken<S>(state: S, problem: string): Turn<S> {
  const details = { message: problem };
  const end = { code: ENVIRONMENT_ERROR, terminated: false, details };
  return { state, observation: [], reward: null, end };
}
