/** A pair on the screen: never whose answer is whose. */

import { visible } from "../core/visible.ts";
import { answersOf, type ShownPair } from "../judge/review/pair.ts";
import { KEYS, type Screen } from "../judge/review/session.ts";
import { paint, WIDTH, wrap } from "./terminal.ts";

/** Narrower ones get lines of this width. */
const NARROWEST = 20;

export interface Output {
  write(text: string): void;
  /** Undefined where it is no terminal. */
  readonly columns: number | undefined;
}

export class ReviewScreen implements Screen {
  readonly #output: Output;
  /** What is shown now, to be drawn again in another width. */
  #draw = () => {};

  constructor(output: Output) {
    this.#output = output;
  }

  pair(pair: ShownPair, { number, of }: { readonly number: number; readonly of: number }): void {
    this.#show(() => [
      paint("bold", `Pair ${number} of ${of}`) + progress(number - 1, of, this.#width),
      "",
      ...this.#text("prompt", pair.prompt),
      ...answersOf(pair).flatMap((answer, i) => this.#text(`answer ${i + 1}`, answer)),
      this.#wrapped("Which is better? 1, 2, = tie, s skip, u undo, q quit, ? help"),
    ]);
  }

  all(of: number): void {
    this.#show(() => [
      this.#wrapped(`All ${of} pairs are labelled. Press q to end, or u to undo the last label.`),
    ]);
  }

  help(): void {
    this.#write(Object.entries(KEYS).map(([key, what]) => this.#wrapped(`${key}  ${what}`, "  ")));
  }

  unknown(key: string): void {
    this.#write([this.#wrapped(`${visible(key)} means nothing here; ? lists the keys.`)]);
  }

  /** After the terminal got another width. */
  again(): void {
    this.#draw();
  }

  get #width(): number {
    return Math.max(NARROWEST, this.#output.columns ?? WIDTH);
  }

  #show(lines: () => readonly string[]): void {
    this.#draw = () => {
      if (this.#output.columns !== undefined) this.#output.write(CLEAR);
      this.#write(lines());
    };
    this.#draw();
  }

  #write(lines: readonly string[]): void {
    this.#output.write(`${lines.join("\n")}\n`);
  }

  #wrapped(text: string, indent = ""): string {
    return wrap(text, indent, this.#width);
  }

  #text(title: string, text: string): string[] {
    const lines = text === "" ? ["(empty)"] : text.replace(/\n$/, "").split("\n");
    return [paint("cyan", title), ...lines.map((line) => this.#wrapped(visible(line), "  ")), ""];
  }
}

const CLEAR = "\u001b[2J\u001b[H";

function progress(done: number, of: number, width: number): string {
  const cells = Math.min(24, width - 30);
  if (cells < 8) return "";
  const full = Math.round((cells * done) / of);
  return `  ${"█".repeat(full)}${"░".repeat(cells - full)}`;
}
