/**
 * An environment whose failures concern one episode: each is stepped by itself, and one that throws
 * ends with `environment_error` and no reward, which is never a zero.
 */

import { ENVIRONMENT_ERROR, type Environment, type Turn } from "../core/environment.ts";
import { messageOf } from "../core/errors.ts";
import { visibleShort } from "../core/visible.ts";

export function eachAlone<S>(environment: Environment<S>): Environment<S | null> {
  return {
    identity: environment.identity,
    ...(environment.memoryless !== undefined && { memoryless: environment.memoryless }),
    get episodesAtOnce() {
      return environment.episodesAtOnce ?? Number.POSITIVE_INFINITY;
    },
    leave: (state) => environment.leave?.(state as S),
    reset: (task, rng) => environment.reset(task, rng).catch((error) => broken(null, error)),
    step: (batch) =>
      Promise.all(
        batch.map(async ({ state, action }) => {
          try {
            const [turn] = await environment.step([{ state: state as S, action }]);
            return turn ?? broken(state, new Error("it gave no turn"));
          } catch (error) {
            environment.leave?.(state as S);
            return broken(state, error);
          }
        }),
      ),
  };
}

function broken<S>(state: S, error: unknown): Turn<S> {
  const details = { message: `it threw: ${visibleShort(messageOf(error), 200)}` };
  const end = { code: ENVIRONMENT_ERROR, terminated: false, details };
  return { state, observation: [], reward: null, end };
}
