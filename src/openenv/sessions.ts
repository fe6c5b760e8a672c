/** The open sessions of a server: how many there may be, and when an idle one is closed. */

import { randomUUID } from "node:crypto";
import type { AnyDefinition } from "../environments/catalogue.ts";
import { RefusedAction, Session } from "./session.ts";

export interface SessionLimits {
  readonly maxSessions: number;
  readonly idleMs: number;
}

interface Open {
  readonly session: Session;
  readonly onIdle: () => void;
  timer: NodeJS.Timeout;
}

export class SessionTable {
  readonly #definition: AnyDefinition;
  readonly #limits: SessionLimits;
  readonly #open = new Map<string, Open>();

  constructor(definition: AnyDefinition, limits: SessionLimits) {
    this.#definition = definition;
    this.#limits = limits;
  }

  get count(): number {
    return this.#open.size;
  }

  get full(): boolean {
    return this.#open.size >= this.#limits.maxSessions;
  }

  /** `onIdle` is called when nothing was asked of it for too long, after it was closed. */
  open(onIdle: () => void = () => {}): string {
    if (this.full) {
      throw new RefusedAction(`all ${this.#limits.maxSessions} sessions are in use: close one`);
    }
    const id = randomUUID();
    const session = new Session(this.#definition);
    this.#open.set(id, { session, onIdle, timer: this.#timer(id) });
    return id;
  }

  find(id: string): Session {
    const open = this.#open.get(id);
    if (!open) throw new RefusedAction(`there is no open session ${id}`);
    clearTimeout(open.timer);
    open.timer = this.#timer(id);
    return open.session;
  }

  close(id: string): boolean {
    clearTimeout(this.#open.get(id)?.timer);
    return this.#open.delete(id);
  }

  closeAll(): void {
    for (const id of [...this.#open.keys()]) this.close(id);
  }

  #timer(id: string): NodeJS.Timeout {
    return setTimeout(() => {
      const { onIdle } = this.#open.get(id) ?? {};
      this.close(id);
      onIdle?.();
    }, this.#limits.idleMs).unref();
  }
}
