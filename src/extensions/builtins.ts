/**
 * Notices changed built-ins. Harness and scorer share them, so a scorer that replaces `JSON.stringify`
 * or adds `Object.prototype.toJSON` changes how its own answers are read.
 */

const SHARED: readonly [name: string, object: object][] = [
  ...Object.entries({ Object, Function, Array, String, Number, Boolean, Symbol, BigInt, RegExp }),
  ...Object.entries({ Date, Promise, Map, Set, WeakMap, WeakSet, Error, TypeError, RangeError }),
  ...Object.entries({ Uint8Array, Float32Array, Float64Array, ArrayBuffer, Buffer }),
].flatMap(([name, type]): [string, object][] => [
  [name, type],
  [`${name}.prototype`, type.prototype as object],
]);
const ITERATORS: readonly [name: string, object: object][] = [
  ["the iterator of arrays", Object.getPrototypeOf([][Symbol.iterator]()) as object],
  ["the iterator of maps", Object.getPrototypeOf(new Map()[Symbol.iterator]()) as object],
  ["the iterator of sets", Object.getPrototypeOf(new Set()[Symbol.iterator]()) as object],
];
const NAMESPACES = Object.entries({ JSON, Math, Reflect, Atomics }) as [string, object][];
const GLOBALS = [
  ...["setTimeout", "clearTimeout", "setImmediate", "queueMicrotask", "performance", "process"],
  ...["Object", "Array", "String", "Number", "Symbol", "RegExp", "Date", "Promise", "Map", "Set"],
  ...["JSON", "Math", "Reflect", "Error", "Buffer", "Uint8Array", "isNaN", "parseInt"],
];

interface Kept {
  readonly name: string;
  readonly object: object;
  readonly keys: readonly PropertyKey[];
  readonly was: readonly PropertyDescriptor[];
}

const { defineProperty, getOwnPropertyDescriptor, is } = Object;
const { deleteProperty, ownKeys } = Reflect;

/** Whoever formats a stack sets these for a moment. */
const FREE = new Set<PropertyKey>(["prepareStackTrace", "stackTraceLimit"]);

/**
 * Remembers the built-ins as they are. The check that it gives names the first that was changed, and
 * puts everything back.
 */
export function keepBuiltIns(): () => string | undefined {
  const shared = [...SHARED, ...ITERATORS, ...NAMESPACES].map(([name, object]) =>
    keep(name, object, keysOf(object)),
  );
  const globals = keep("globalThis", globalThis, GLOBALS);
  return () => {
    let changed = restored(globals);
    for (let i = 0; i < shared.length; i++) {
      const one = shared[i] as Kept;
      const found = restored(one) ?? added(one);
      changed ??= found;
    }
    return changed;
  };
}

function keep(name: string, object: object, keys: readonly PropertyKey[]): Kept {
  const was = keys.map((key) => getOwnPropertyDescriptor(object, key) as PropertyDescriptor);
  return { name, object, keys, was };
}

/** Without what regular expressions leave behind: RegExp.$1 and the like. */
function keysOf(object: object): PropertyKey[] {
  const keys = ownKeys(object).filter((key) => !FREE.has(key));
  return object === RegExp
    ? keys.filter((key) => !/^\$|[a-z](Match|Context|Paren)$|^input$/.test(String(key)))
    : keys;
}

function restored({ name, object, keys, was }: Kept): string | undefined {
  let changed: string | undefined;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as PropertyKey;
    const before = was[i];
    const now = getOwnPropertyDescriptor(object, key);
    if (is(now?.value, before?.value) && now?.get === before?.get) continue;
    changed ??= `${name}.${String(key)}`;
    if (before) defineProperty(object, key, before);
    else deleteProperty(object, key);
  }
  return changed;
}

function added({ name, object, keys }: Kept): string | undefined {
  const now = keysOf(object);
  if (now.length === keys.length) return undefined;
  const extra = now.filter((key) => !keys.includes(key));
  for (const key of extra) deleteProperty(object, key);
  return extra[0] === undefined ? undefined : `${name}.${String(extra[0])}`;
}
