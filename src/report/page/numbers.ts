/** Number formats. Independent of the locale, so that a page is the same everywhere. */

const MINUS = "−";
export const NONE = "–";

/** At most four significant digits, without trailing zeros: 0.7083, 12.5, 1,204, 3.1e−5. */
export function plain(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  const size = Math.abs(value);
  if (size >= 1000) return grouped(Math.round(value));
  const short = Number(value.toPrecision(size >= 1 ? 4 : 3)) + 0;
  return (size > 0 && size < 1e-4 ? short.toExponential() : String(short)).replaceAll("-", MINUS);
}

export function grouped(value: number): string {
  const digits = Math.abs(value)
    .toFixed(0)
    .replace(/\B(?=(\d{3})+$)/g, ",");
  return value < 0 ? `${MINUS}${digits}` : digits;
}

export const signed = (value: number): string => (value > 0 ? `+${plain(value)}` : plain(value));

/** With a no-break space. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)}\u00a0%`;

/** "34.6 to 47.7 %" */
export function percentRange([low, high]: readonly [number, number]): string {
  return `${(100 * low).toFixed(1)} to ${percent(high)}`;
}

export function duration(seconds: number): string {
  if (seconds < 59.95) return `${seconds < 1 ? plain(seconds) : seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${grouped(hours)} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}

/** "1 alarm", "2 alarms" */
export const many = (count: number, noun: string): string =>
  `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

export const pValue = (p: number): string =>
  p < 0.001 ? "p < 0.001" : `p = ${Number(p.toPrecision(2))}`;

/** Without a currency. */
export const moneyText = (money: number): string =>
  money >= 0.01 || money === 0 ? money.toFixed(2) : money.toPrecision(1);
