/** How much better than expected a reward was: the baselines that the field uses. Pure arithmetic. */

export type Deviation = "sample" | "population" | "none";

export function mean(values: readonly number[]): number {
  return values.reduce((sum, x) => sum + x, 0) / values.length;
}

/** 0 for fewer values than it takes. */
export function deviation(values: readonly number[], kind: Exclude<Deviation, "none">): number {
  const freedom = values.length - (kind === "sample" ? 1 : 0);
  if (freedom < 1) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, x) => sum + (x - centre) ** 2, 0) / freedom);
}

/** GRPO: against the mean of the group, in units of its deviation. */
export function groupAdvantages(
  rewards: readonly number[],
  kind: Deviation,
  epsilon: number,
): number[] {
  // Without an epsilon they would be 0 / 0.
  if (allEqual(rewards)) return rewards.map(() => 0);
  const centre = mean(rewards);
  const scale = kind === "none" ? 1 : deviation(rewards, kind) + epsilon;
  return rewards.map((reward) => (reward - centre) / scale);
}

/**
 * RLOO: against the mean of the others of the group; a group of one has advantage 0. Parts of the same
 * episode are left out together: an action also changes the rewards of the parts after it, and a
 * baseline that depends on the action biases the gradient.
 */
export function leaveOneOut(
  rewards: readonly number[],
  /** By reward, the episode that it is of. */
  episodes: readonly number[] = rewards.map((_, i) => i),
): number[] {
  const own = new Map<number, { sum: number; count: number }>();
  for (const [i, reward] of rewards.entries()) {
    const { sum, count } = own.get(episodes[i] as number) ?? { sum: 0, count: 0 };
    own.set(episodes[i] as number, { sum: sum + reward, count: count + 1 });
  }
  const total = rewards.reduce((sum, x) => sum + x, 0);
  return rewards.map((reward, i) => {
    const { sum, count } = own.get(episodes[i] as number) as { sum: number; count: number };
    const others = rewards.length - count;
    return others === 0 ? 0 : reward - (total - sum) / others;
  });
}

/** A group whose rewards are all equal teaches nothing: its advantages are 0. */
export function allEqual(rewards: readonly number[]): boolean {
  return rewards.every((reward) => reward === rewards[0]);
}

/**
 * Generalised advantage estimation over the tokens of one completion, which ends with it: after the
 * last token nothing is worth anything. `returns` are what the value head should have said.
 */
export function generalisedAdvantages(
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  discount: number,
  lambda: number,
): { advantages: number[]; returns: number[] } {
  const { length } = rewards;
  const advantages = new Array<number>(length).fill(0);
  let ahead = 0;
  for (let t = length - 1; t >= 0; t--) {
    const next = t + 1 < length ? (values[t + 1] as number) : 0;
    const surprise = (rewards[t] as number) + discount * next - (values[t] as number);
    ahead = surprise + discount * lambda * ahead;
    advantages[t] = ahead;
  }
  return { advantages, returns: advantages.map((a, t) => a + (values[t] as number)) };
}

/** All numbers of all lists moved and scaled together, to mean 0 and deviation 1. */
export function whitened(lists: readonly (readonly number[])[]): number[][] {
  const all = lists.flat();
  const [centre, scale] = [mean(all), deviation(all, "population") + 1e-8];
  return lists.map((list) => list.map((x) => (x - centre) / scale));
}
