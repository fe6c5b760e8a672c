/** The sessions of one server: opened as needed, used again, never more than the server allows. */

import { RemoteFailure } from "./remote-failure.ts";
import { CAPACITY_REACHED, type RemoteSession } from "./remote-session.ts";

export interface PoolOptions {
  readonly open: () => Promise<RemoteSession>;
  readonly most: number;
  /** How long an episode waits for a session. */
  readonly waitMs: number;
}

interface Waiter {
  readonly wake: () => void;
}

/** How often a full server is asked again while none of its sessions is ours. */
const RETRY_MS = 250;

export class SessionPool {
  readonly #options: PoolOptions;
  readonly #free: RemoteSession[] = [];
  readonly #all = new Set<RemoteSession>();
  readonly #waiters: Waiter[] = [];
  #opening = 0;
  #most: number;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#most = options.most;
  }

  /** As far as is known: lower once the server said that it is full. */
  get most(): number {
    return this.#most;
  }

  async take(): Promise<RemoteSession> {
    const until = performance.now() + this.#options.waitMs;
    for (;;) {
      const session = await this.another();
      if (session) return session;
      const left = until - performance.now();
      if (left <= 0) throw this.#noneFree();
      await this.#change(this.#all.size === 0 ? Math.min(left, RETRY_MS) : left);
    }
  }

  /** A session if there is one at once. */
  async another(): Promise<RemoteSession | undefined> {
    return this.#usable() ?? (await this.#opened());
  }

  /** Takes a session back; one that was lost is forgotten. */
  give(session: RemoteSession): void {
    if (!this.#all.has(session)) return;
    if (session.usable) this.#free.push(session);
    else this.#all.delete(session);
    this.#waiters.shift()?.wake();
  }

  close(): void {
    for (const session of this.#all) session.close();
    this.#all.clear();
    this.#free.length = 0;
  }

  #usable(): RemoteSession | undefined {
    for (;;) {
      const session = this.#free.pop();
      if (session === undefined || session.usable) return session;
      this.#all.delete(session);
    }
  }

  /** A new one; undefined when there may be no more. */
  async #opened(): Promise<RemoteSession | undefined> {
    if (this.#all.size + this.#opening >= this.#most) return undefined;
    this.#opening++;
    try {
      const session = await this.#options.open();
      this.#all.add(session);
      return session;
    } catch (error) {
      if (!(error instanceof RemoteFailure) || error.code !== CAPACITY_REACHED) throw error;
      this.#most = Math.max(1, this.#all.size);
      return undefined;
    } finally {
      this.#opening--;
    }
  }

  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        wake: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        resolve();
      }, ms);
      this.#waiters.push(waiter);
    });
  }

  #noneFree(): RemoteFailure {
    const open = this.#all.size;
    return new RemoteFailure(
      open === 0
        ? "has no free session (CAPACITY_REACHED): others use it"
        : `has no free session: ${open} of at most ${this.#most} are in use. Give the address #sessions=${open}`,
      CAPACITY_REACHED,
    );
  }
}
