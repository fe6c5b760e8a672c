/** Static shapes: sizes, strides and broadcasting, each failing with both shapes and the op's name. */

import { LockedRoomError } from "../core/errors.ts";

export type Shape = readonly number[];

export function sizeOf(shape: Shape): number {
  return shape.reduce((product, n) => product * n, 1);
}

export function showShape(shape: Shape): string {
  return `[${shape.join(", ")}]`;
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}

export function shapeError(op: string, problem: string, ...shapes: readonly Shape[]): Error {
  const shown = shapes.map(showShape).join(" and ");
  return new LockedRoomError("data", `${op}: ${problem}${shown === "" ? "" : `, given ${shown}`}`);
}

/** The shape that two shapes broadcast to, after NumPy. */
export function broadcast(op: string, a: Shape, b: Shape): number[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const [x, y] = [a[a.length - rank + i] ?? 1, b[b.length - rank + i] ?? 1];
    if (x !== y && x !== 1 && y !== 1) throw shapeError(op, "the shapes do not broadcast", a, b);
    return x === 1 ? y : x;
  });
}

/** An axis counted from the front; negative ones count from the back. */
export function axisOf(op: string, axis: number, shape: Shape): number {
  const found = axis < 0 ? axis + shape.length : axis;
  if (Number.isInteger(found) && found >= 0 && found < shape.length) return found;
  throw shapeError(op, `there is no axis ${axis}`, shape);
}

/** The strides of a flat array. */
export function stridesOf(shape: Shape): number[] {
  const strides = new Array<number>(shape.length);
  let stride = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape[i] as number;
  }
  return strides;
}

/** The index in the original array of an element of the broadcast array. */
export function walker(
  { shape: from }: { readonly shape: Shape },
  to: Shape,
): (index: number) => number {
  const [inner, outer] = [stridesOf(from), stridesOf(to)];
  const shift = to.length - from.length;
  return (index) => {
    let at = 0;
    for (let axis = shift; axis < to.length; axis++) {
      if (from[axis - shift] === 1) continue;
      const position = Math.floor(index / (outer[axis] as number)) % (to[axis] as number);
      at += position * (inner[axis - shift] as number);
    }
    return at;
  };
}
