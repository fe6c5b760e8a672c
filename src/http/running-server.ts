/** What whoever starts a server holds of it; in a file of its own, because it needs no types of Node. */

export interface RunningServer {
  readonly port: number;
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  /** Finishes short work and aborts the rest, within a second. */
  close(): Promise<void>;
}
