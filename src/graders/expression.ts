/**
 * The formula of a multi grader, read by a small parser and never by `eval`: numbers, names of
 * graders, + - * / ^, parentheses and a few functions. `^` binds most and from the right, then a
 * sign, then * and /, then + and -, so that -2^2 is -4. What is not a finite number is an error.
 */

export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "call"; readonly name: FunctionName; readonly args: readonly Expression[] }
  | { readonly kind: "operation"; readonly sign: Sign; readonly args: readonly Expression[] };

export type Sign = "+" | "-" | "*" | "/" | "^" | "negate";

/** The base of `log` is not documented. */
export type LogBase = "e" | "10" | "2";

export const FUNCTIONS = ["min", "max", "abs", "floor", "ceil", "exp", "sqrt", "log"] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

const LONGEST = 100_000;
const DEEPEST = 100;
const MOST_OPERATIONS = 1000;

/** A formula that cannot be read; the message says where. */
export class FormulaError extends Error {}

/** Without a number for an answer, such as 1/0. */
export class NoNumber extends Error {}

export function parseExpression(text: string, variables: ReadonlySet<string>): Expression {
  if (text.length > LONGEST)
    throw new FormulaError(`the formula is longer than ${LONGEST} characters`);
  return new Parser(text, variables).whole();
}

interface Token {
  readonly text: string;
  readonly at: number;
}

const TOKEN = /\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\S))/y;
const SUMS = ["+", "-"] as const;
const PRODUCTS = ["*", "/"] as const;

class Parser {
  readonly #tokens: Token[] = [];
  readonly #variables: ReadonlySet<string>;
  #next = 0;
  #depth = 0;
  #operations = 0;

  constructor(text: string, variables: ReadonlySet<string>) {
    this.#variables = variables;
    TOKEN.lastIndex = 0;
    for (let found = TOKEN.exec(text); found; found = TOKEN.exec(text)) {
      const token = (found[1] ?? found[2] ?? found[3]) as string;
      this.#tokens.push({ text: token, at: TOKEN.lastIndex - token.length + 1 });
    }
  }

  whole(): Expression {
    const expression = this.#sum();
    if (this.#peek() !== undefined) throw this.#unexpected();
    return expression;
  }

  #sum = (): Expression => this.#deeper(() => this.#chain(SUMS, this.#product));
  #product = (): Expression => this.#chain(PRODUCTS, this.#signed);

  #chain(signs: readonly Sign[], part: () => Expression): Expression {
    let left = part();
    for (;;) {
      const sign = signs.find((one) => one === this.#peek());
      if (sign === undefined) return left;
      if (++this.#operations > MOST_OPERATIONS)
        throw new FormulaError(`the formula has more than ${MOST_OPERATIONS} operations`);
      this.#next++;
      left = { kind: "operation", sign, args: [left, part()] };
    }
  }

  #signed = (): Expression => {
    if (this.#take("-"))
      return { kind: "operation", sign: "negate", args: [this.#deeper(this.#signed)] };
    if (this.#take("+")) return this.#deeper(this.#signed);
    const base = this.#atom();
    if (!this.#take("^")) return base;
    return { kind: "operation", sign: "^", args: [base, this.#deeper(this.#signed)] };
  };

  #atom(): Expression {
    const token = this.#peek();
    if (token === undefined || !/^[\w.(]/.test(token)) throw this.#unexpected();
    this.#next++;
    if (token === "(") return this.#closed(this.#sum());
    if (/^[\d.]/.test(token)) return this.#number(token);
    if (this.#peek() === "(" && (FUNCTIONS as readonly string[]).includes(token))
      return this.#call(token as FunctionName);
    if (this.#variables.has(token) && this.#peek() !== "(")
      return { kind: "variable", name: token };
    this.#next--;
    const known = [...this.#variables].join(", ");
    throw new FormulaError(
      `"${brief(token)}" at character ${this.#at()} is no grader of this one (${known}) and no function (${FUNCTIONS.join(", ")})`,
    );
  }

  #number(token: string): Expression {
    const value = Number(token);
    if (Number.isFinite(value)) return { kind: "number", value };
    throw new FormulaError(`the formula cannot be read at "${brief(token)}"`);
  }

  #call(name: FunctionName): Expression {
    this.#next++;
    const args = [this.#sum()];
    while (this.#take(",")) args.push(this.#sum());
    if (args.length > 1 && name !== "min" && name !== "max")
      throw new FormulaError(`${name} takes one number, not ${args.length}`);
    return this.#closed({ kind: "call", name, args });
  }

  #closed(expression: Expression): Expression {
    if (!this.#take(")")) throw this.#unexpected();
    return expression;
  }

  #deeper(read: () => Expression): Expression {
    if (++this.#depth > DEEPEST)
      throw new FormulaError(`the formula is nested deeper than ${DEEPEST} levels`);
    const expression = read();
    this.#depth--;
    return expression;
  }

  #take(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#next++;
    return true;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#next]?.text;
  }

  #at(): number {
    return this.#tokens[this.#next]?.at ?? 0;
  }

  #unexpected(): FormulaError {
    const token = this.#peek();
    return new FormulaError(
      token === undefined
        ? "the formula ends too early"
        : `the formula cannot be read at "${brief(token)}", character ${this.#at()}`,
    );
  }
}

export function evaluate(
  expression: Expression,
  values: ReadonlyMap<string, number>,
  logBase: LogBase = "e",
): number {
  const value = step(expression, values, logBase);
  if (Number.isFinite(value)) return value;
  throw new NoNumber(`the formula gives ${value}`);
}

function step(
  expression: Expression,
  values: ReadonlyMap<string, number>,
  logBase: LogBase,
): number {
  if (expression.kind === "number") return expression.value;
  if (expression.kind === "variable") return values.get(expression.name) ?? Number.NaN;
  const args = expression.args.map((one) => step(one, values, logBase));
  const value =
    expression.kind === "call"
      ? applied(expression.name, args, logBase)
      : combined(expression.sign, args as [number, number]);
  // A step without a number may not be hidden by a later one, as in 1/(1/0).
  if (Number.isFinite(value)) return value;
  const name = expression.kind === "call" ? expression.name : expression.sign;
  throw new NoNumber(`${name} of ${args.join(" and ")} is not a finite number`);
}

export function combined(sign: Sign, [a, b]: readonly [number, number]): number {
  if (sign === "+") return a + b;
  if (sign === "-") return a - b;
  if (sign === "*") return a * b;
  if (sign === "/") return a / b;
  return sign === "^" ? a ** b : 0 - a;
}

const LOGS = { e: Math.log, "10": Math.log10, "2": Math.log2 } as const;

export function applied(name: FunctionName, args: readonly number[], logBase: LogBase): number {
  if (name === "log") return LOGS[logBase](args[0] as number);
  if (name === "min" || name === "max") return Math[name](...args);
  return Math[name](args[0] as number);
}

function brief(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
