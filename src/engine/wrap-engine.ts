import type { Engine } from "./engine.ts";

/** The same engine with some methods replaced. */
export function wrapEngine(engine: Engine, replaced: Partial<Engine>): Engine {
  return new Proxy(engine, {
    get(target, name) {
      const value = replaced[name as keyof Engine] ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
