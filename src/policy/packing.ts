/**
 * How rows of tokens are laid out for a graph. A prompt that rows have in common is computed once: the
 * rows lie behind it in one pack, and short ones share a pack, so that little is padding.
 *
 *   pack    prompt A (all but its last token) │ row 1 of A │ row 2 of A │ prompt B │ row 1 of B │ padding
 *
 * A row begins with the last token of its prompt, so that every place has one next token at most. It
 * sees its prompt and itself, and its positions continue those of the prompt.
 */

import { actionIndices, promptLength, type TokenRow } from "../core/token-row.ts";
import { roundedLength, roundedPacks, roundedTargets } from "./graph-sizes.ts";

/** The sizes of a graph. */
export interface PackShape {
  readonly packs: number;
  /** Tokens of a pack. */
  readonly length: number;
  /** Positions that tokens can have. */
  readonly positions: number;
  /** Tokens that are predicted, with at least one to spare. */
  readonly targets: number;
}

/** What a row adds to a pack behind its prompt: the tokens from `from` up to, but not including, `to`. */
interface Piece {
  readonly row: number;
  readonly tokens: readonly number[];
  readonly from: number;
  readonly to: number;
  /** Of the predicted tokens. */
  readonly actions: readonly number[];
}

/** A prompt and some of its rows. */
interface Bundle {
  readonly pieces: readonly Piece[];
  readonly size: number;
}

/** What one call of a graph computes. */
export interface Part {
  readonly packs: readonly (readonly Bundle[])[];
  /** The rows in it, each with its first target. */
  readonly rows: readonly { readonly row: number; readonly target: number }[];
  readonly targets: number;
}

export interface Packing {
  /** Of all parts alike. */
  readonly shape: PackShape;
  readonly parts: readonly Part[];
  /** Share of the computed tokens that are no padding. */
  readonly usedShare: number;
}

export interface PackingOptions {
  /** Consecutive rows that a loss compares: they stay in one part (default: 1). */
  readonly together?: number | undefined;
  /** The most rows of a part; more only where more have to stay together. */
  readonly mostRows?: number | undefined;
  /** How many places of attention cost as much as the rest of a token. */
  readonly attentionLength: number;
  /** Each row for itself, with its own prompt: slow, and the reference for the packed layout. */
  readonly unpacked?: boolean | undefined;
}

/** Tokens of a part: enough to keep a processor busy, and few enough to divide a batch among threads. */
const PART = 2048;

/** The share of the work that a length has to save to be preferred to one that was tried before. */
const WORTHWHILE = 0.02;

/** The layout depends on the rows alone, so that the same batch always gives the same bytes. */
export function packRows(rows: readonly TokenRow[], options: PackingOptions): Packing {
  const { together = 1, unpacked = false } = options;
  const pieces = rows.map((row, i) => pieceOf(row, i, unpacked));
  if (unpacked) {
    const packs = pieces.map((piece) => [bundleOf([piece])]);
    return divided(packs, 1);
  }
  const groups = groupsOf(pieces, together);
  const least = largest(groups.flat().map((unit) => bundleOf(unit).size));
  let best: { readonly packing: Packing; readonly cost: number } | undefined;
  for (const length of lengthsFrom(least)) {
    const bundles = groups.flatMap((group) => bundlesOf(group, length, options));
    const packs = firstFit(bundles, length, options);
    const packing = divided(packs, partsFor(packs, length, options), length);
    const cost = costOf(packing, options);
    if (!best || cost < best.cost * (1 - WORTHWHILE)) best = { packing, cost };
  }
  return (best as { packing: Packing }).packing;
}

/** What has to be computed of a row. */
function pieceOf(row: TokenRow, index: number, unpacked: boolean): Piece {
  const actions = [...actionIndices(row)];
  if (actions[0] === 0) throw new Error(`nothing precedes the first token of row ${index}`);
  const from = unpacked ? 0 : Math.max(promptLength(row) - 1, 0);
  return { row: index, tokens: row.tokens, from, to: actions.at(-1) ?? from, actions };
}

/** Pieces by their prompt, in units that stay together. */
function groupsOf(pieces: readonly Piece[], together: number): Piece[][][] {
  const units = groupedBy(pieces, ({ row }) => Math.floor(row / together)).map((unit) =>
    unit.length === 1 || new Set(unit.map(promptKey)).size === 1
      ? unit
      : unit.map((piece) => ({ ...piece, from: 0 })),
  );
  return groupedBy(units, ([first]) => promptKey(first as Piece));
}

function promptKey({ tokens, from }: Piece): string {
  return tokens.slice(0, from).join();
}

/** In the order of their first members. */
function groupedBy<T>(items: readonly T[], keyOf: (item: T) => unknown): T[][] {
  const groups = new Map<unknown, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return [...groups.values()];
}

/** All pieces have the same prompt. */
function bundleOf(pieces: readonly Piece[]): Bundle {
  const own = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  return { pieces, size: own + (pieces[0]?.from ?? 0) };
}

/** A group in as few bundles as it needs; without a prompt to share, the smaller the better. */
function bundlesOf(
  group: readonly Piece[][],
  length: number,
  { mostRows = Number.POSITIVE_INFINITY }: PackingOptions,
): Bundle[] {
  const bundles: { pieces: Piece[]; size: number }[] = [];
  for (const unit of group) {
    const [last, { size }] = [bundles.at(-1), bundleOf(unit)];
    const shared = unit[0]?.from ?? 0;
    const fits =
      last && last.size + size - shared <= length && last.pieces.length + unit.length <= mostRows;
    if (fits && shared > 0) {
      last.pieces.push(...unit);
      last.size += size - shared;
    } else bundles.push({ pieces: [...unit], size });
  }
  return bundles;
}

/** First-fit decreasing: the largest first, each into the first pack that has room for it. */
function firstFit(
  bundles: readonly Bundle[],
  length: number,
  { mostRows = Number.POSITIVE_INFINITY }: PackingOptions,
): Bundle[][] {
  const packs: { readonly bundles: Bundle[]; left: number; rows: number }[] = [];
  for (const bundle of bundles.toSorted((a, b) => b.size - a.size)) {
    const rows = bundle.pieces.length;
    const fitting = packs.find((pack) => pack.left >= bundle.size && pack.rows + rows <= mostRows);
    const pack = fitting ?? { bundles: [], left: length, rows: 0 };
    if (!fitting) packs.push(pack);
    pack.bundles.push(bundle);
    pack.left -= bundle.size;
    pack.rows += rows;
  }
  return packs.map(({ bundles: own }) => own);
}

/**
 * Lengths to try: powers of two and halfway between first, so that most batches agree on a length, then
 * the others.
 */
function lengthsFrom(least: number): number[] {
  const steps: number[] = [];
  for (let length = roundedLength(least); length <= Math.max(4 * least, 256); ) {
    steps.push(length);
    length = roundedLength(length + 1);
  }
  const preferred = steps.filter(
    (length) =>
      Number.isInteger(Math.log2(length / 16)) || Number.isInteger(Math.log2(length / 24)),
  );
  return [...preferred, ...steps.filter((length) => !preferred.includes(length))];
}

/** A power of two, at least two where there are two packs: threads then have equal shares. */
function partsFor(
  packs: readonly (readonly Bundle[])[],
  length: number,
  { mostRows = Number.POSITIVE_INFINITY }: PackingOptions,
): number {
  const wanted = Math.max(2, (packs.length * length) / PART);
  let count = 2 ** Math.ceil(Math.log2(wanted));
  const tooMany = () => divided(packs, count).parts.some(({ rows }) => rows.length > mostRows);
  while (count < packs.length && mostRows < Number.POSITIVE_INFINITY && tooMany()) count *= 2;
  return Math.min(packs.length, count);
}

/** Packs take turns: the first are the fullest. */
function divided(packs: readonly (readonly Bundle[])[], count: number, length?: number): Packing {
  const sizes = packs.map((pack) => pack.reduce((sum, { size }) => sum + size, 0));
  const dealt: (readonly Bundle[])[][] = Array.from({ length: Math.max(count, 1) }, () => []);
  for (const [i, pack] of packs.entries()) dealt[i % dealt.length]?.push(pack);
  const parts = dealt.map(partOf);
  const shape = shapeOf(parts, length ?? roundedLength(largest(sizes)));
  const used = sizes.reduce((sum, size) => sum + size, 0);
  return { shape, parts, usedShare: used / (parts.length * shape.packs * shape.length) };
}

function partOf(packs: Part["packs"]): Part {
  const rows: { row: number; target: number }[] = [];
  let targets = 0;
  for (const { row, actions } of packs.flat().flatMap(({ pieces }) => pieces)) {
    rows.push({ row, target: targets });
    targets += actions.length;
  }
  return { packs, rows, targets };
}

function shapeOf(parts: readonly Part[], length: number): PackShape {
  const packs = roundedPacks(largest(parts.map((part) => part.packs.length)));
  const ends = parts.flatMap((part) =>
    part.packs.flat().flatMap(({ pieces }) => pieces.map(({ to }) => to)),
  );
  const targets = largest(parts.map((part) => part.targets)) + 1;
  return {
    // The runtime's rotary embedding wants at least as many as a pack is long.
    ...{ packs, length, positions: Math.max(roundedLength(largest(ends)), length) },
    targets: roundedTargets(targets, packs * length),
  };
}

/** At least 1. There may be more numbers than a function takes arguments. */
function largest(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => Math.max(a, b), 1);
}

/** In tokens: attention costs the more, the longer a pack is. */
function costOf({ shape, parts }: Packing, { attentionLength }: PackingOptions): number {
  const { packs, length } = shape;
  return parts.length * packs * length * (1 + length / attentionLength);
}
