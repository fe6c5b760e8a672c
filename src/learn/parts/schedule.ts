/** How the learning rate changes over a training run. */

export interface Schedule {
  readonly peak: number;
  /** Steps of linear rise at the start. */
  readonly warmup: number;
  /** What the rate has come down to at the end, as a share of the peak. */
  readonly end: number;
  readonly shape: "constant" | "linear" | "cosine";
}

/** The rate of step 1, 2, …, `steps`. */
export function rateAt(
  step: number,
  steps: number,
  { peak, warmup, end, shape }: Schedule,
): number {
  if (step <= warmup) return (peak * step) / (warmup + 1);
  if (shape === "constant") return peak;
  const share = steps === warmup ? 1 : (step - warmup) / (steps - warmup);
  const left = shape === "linear" ? 1 - share : (1 + Math.cos(Math.PI * share)) / 2;
  return peak * (end + (1 - end) * left);
}
