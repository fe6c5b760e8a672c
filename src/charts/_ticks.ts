/** Ticks at round numbers, and their labels; independent of the locale. */

export interface Ticks {
  /** With a gridline and a label. */
  readonly major: readonly number[];
  /** A short mark only; log axes have them. */
  readonly minor: readonly number[];
}

/** Tolerance for rounding in sums of steps. */
const SLACK = 1e-9;

/** The smallest 1, 2 or 5 times a power of ten that makes at most `most` steps of `span`. */
export function niceStep(span: number, most: number, integer = false): number {
  const least = span / Math.max(1, most);
  const exponent = Math.floor(Math.log10(least));
  const candidates = [`1e${exponent}`, `2e${exponent}`, `5e${exponent}`, `1e${exponent + 1}`];
  const step = candidates.map(Number).find((value) => value >= least * (1 - SLACK));
  const chosen = step ?? Number(`2e${exponent + 1}`);
  return integer ? Math.max(1, chosen) : chosen;
}

export function linearTicks(low: number, high: number, most: number, integer = false): Ticks {
  const step = niceStep(high - low, most, integer);
  const first = Math.ceil(low / step - SLACK);
  const last = Math.floor(high / step + SLACK);
  const major = Array.from({ length: last - first + 1 }, (_, i) => multiple(first + i, step));
  return { major, minor: [] };
}

/** `count * step` without rounding errors: 3 * 0.1 is 0.3. */
export function multiple(count: number, step: number): number {
  return Number((count * step).toPrecision(14)) + 0;
}

const EVERY_DECADE = [1, 2, 3, 5, 10, 20, 50, 100];
const DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** Takes and gives values, not exponents; both ends are above zero. */
export function logTicks(low: number, high: number, most: number): Ticks {
  const [from, to] = [Math.log10(low) - SLACK, Math.log10(high) + SLACK];
  const at = (factors: readonly number[], every = 1) => {
    const ticks: number[] = [];
    for (let exponent = Math.floor(from / every) * every; exponent <= to; exponent += every) {
      ticks.push(...factors.map((factor) => Number(`${factor}e${exponent}`)));
    }
    return ticks.filter((tick) => Math.log10(tick) >= from && Math.log10(tick) <= to);
  };
  let major = at([1, 2, 5]);
  if (major.length < 3) return linearTicks(low, high, most);
  for (const every of EVERY_DECADE) {
    if (major.length <= most) break;
    major = at([1], every);
  }
  const minor = to - from > 8 ? [] : at(DIGITS).filter((tick) => !major.includes(tick));
  return { major, minor };
}

/**
 * One text for each tick of an axis. Ticks of a linear axis (`even`) share their number of decimals;
 * those of a log axis have as many as each needs.
 */
export function formatTicks(ticks: readonly number[], even = true): string[] {
  const sizes = ticks.map(Math.abs).filter((size) => size > 0);
  const isPlain = sizes.every((size) => size < 1e6 && size >= 1e-4);
  if (!isPlain) return ticks.map((tick) => scientific(tick, ticks));
  const shared = Math.max(0, ...ticks.map(decimalsOf));
  return ticks.map((tick) => plain(tick, even ? shared : decimalsOf(tick)));
}

function decimalsOf(value: number): number {
  const text = String(value);
  const point = text.indexOf(".");
  return point < 0 ? 0 : Math.min(12, text.length - point - 1);
}

function plain(value: number, decimals: number): string {
  const [whole = "", fraction] = Math.abs(value).toFixed(decimals).split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, ",") : whole;
  return `${value < 0 ? "−" : ""}${grouped}${fraction === undefined ? "" : `.${fraction}`}`;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** "2.5×10⁻⁷", with as many digits as the ticks of the axis need. */
function scientific(value: number, ticks: readonly number[]): string {
  if (value === 0) return "0";
  const digits = Math.max(...ticks.map((tick) => decimalsOf(Number(exponential(tick)[0]))));
  const [mantissa, exponent] = exponential(value);
  const power = [...exponent].map((digit) => SUPERSCRIPTS[Number(digit)] ?? "⁻").join("");
  const factor = plain(Number(mantissa), digits);
  return Math.abs(Number(mantissa)) === 1 && digits === 0
    ? `${factor.slice(0, -1)}10${power}`
    : `${factor}×10${power}`;
}

function exponential(value: number): [mantissa: string, exponent: string] {
  const [mantissa = "0", exponent = "0"] = value.toExponential().split("e");
  return [mantissa, exponent.replace("+", "")];
}
