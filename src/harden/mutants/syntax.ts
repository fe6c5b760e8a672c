/** Walks over a syntax tree without its types. */

import type { SyntaxNode } from "../../extensions/editable.ts";

export interface Place {
  readonly node: SyntaxNode;
  readonly parent: SyntaxNode | undefined;
  /** The field of the parent. */
  readonly field: string;
  /** The name of the constant at the top of the file that it belongs to, outside of functions. */
  readonly constant: string | undefined;
}

/** TypeScript's own nodes that hold an expression; the others are types. */
const TRANSPARENT = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"]);
const FUNCTION = /Function|Method/;

/** Every place of the program in the order of the source. */
export function* places(root: SyntaxNode): Generator<Place> {
  yield* within({ node: root, parent: undefined, field: "", constant: undefined });
}

function* within(place: Place): Generator<Place> {
  const { node } = place;
  if (node.type.startsWith("TS") && !TRANSPARENT.has(node.type)) return;
  if (node.type === "ImportDeclaration") return;
  yield place;
  const constant = FUNCTION.test(node.type) ? undefined : (nameOf(place) ?? place.constant);
  for (const [field, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) yield* within({ node: child, parent: node, field, constant });
  }
}

function nameOf({ node }: Place): string | undefined {
  if (node.type !== "VariableDeclarator") return undefined;
  return (node.id as SyntaxNode).name as string | undefined;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof (value as SyntaxNode | null)?.type === "string" && "start" in (value as object);
}

/** Short texts that the source compares with or writes, and characters that its numbers may mean. */
export function literalsOf(root: SyntaxNode): string[] {
  const found = new Set<string>();
  for (const { node } of places(root)) {
    const { value } = node;
    if (node.type === "StringLiteral") found.add(String(value));
    if (node.type === "TemplateElement") found.add(String((value as { cooked?: unknown }).cooked));
    if (node.type === "RegExpLiteral")
      for (const word of String(node.pattern).match(/[A-Za-z]{2,}[: ]*/g) ?? []) found.add(word);
    if (node.type === "NumericLiteral") {
      found.add(String(value));
      if (isCharacter(value)) found.add(String.fromCodePoint(value));
    }
  }
  return [...found].filter((text) => text !== "" && text.length <= 24);
}

function isCharacter(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 8 && Number(value) < 0x11_0000;
}
