/**
 * Tokens of which some are the policy's own. A prompt with a completion has one span of them; a
 * conversation of several turns has one for each turn.
 */

/** Tokens from `from` up to, but not including, `to`. */
export type Span = readonly [from: number, to: number];

export interface TokenRow {
  readonly tokens: readonly number[];
  /** The policy's own tokens, in order and without overlap. The rest was read. */
  readonly actions: readonly Span[];
}

/** One turn: everything after the prompt is the policy's own. */
export function completionRow(prompt: readonly number[], completion: readonly number[]): TokenRow {
  const tokens = [...prompt, ...completion];
  return { tokens, actions: [[prompt.length, tokens.length]] };
}

/** How many tokens are the policy's own: the length of every list with one number per action. */
export function actionCount({ actions }: TokenRow): number {
  return actions.reduce((sum, [from, to]) => sum + to - from, 0);
}

/** How many tokens precede the policy's first own token. */
export function promptLength({ tokens, actions }: TokenRow): number {
  return actions[0]?.[0] ?? tokens.length;
}

/** The index of each of the policy's own tokens. */
export function* actionIndices({ actions }: TokenRow): Generator<number, void, void> {
  for (const [from, to] of actions) for (let i = from; i < to; i++) yield i;
}
