/** Edits of a scorer's source: each loosens or changes one rule. */

import type { EditableFile, SyntaxNode } from "../../extensions/editable.ts";
import { regexEdits } from "./regex-edits.ts";
import { isNode, type Place, places } from "./syntax.ts";

export interface SourceEdit {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Operator = (place: Place, source: (node: SyntaxNode) => string) => SourceEdit[];

/** Strings of these constants say who a scorer is, not what it does. */
const IDENTITY = /^(?:(?:scorer_|reward_)?(?:name|version|spec)|(?:outcome_)?codes|relations)$/i;

const OPERATORS: readonly Operator[] = [
  conditions,
  logic,
  comparisons,
  regexes,
  calls,
  returns,
  constants,
  negations,
];

export function sourceEdits({ tree, text }: EditableFile): SourceEdit[] {
  const source = (node: SyntaxNode) => text.slice(node.start, node.end);
  const edits: SourceEdit[] = [];
  for (const place of places(tree.program)) {
    if (place.constant !== undefined && IDENTITY.test(place.constant)) continue;
    for (const operator of OPERATORS) edits.push(...operator(place, source));
  }
  return edits;
}

function over({ start, end }: SyntaxNode, operator: string, text: string): SourceEdit {
  return { operator, start, end, text };
}

/** Of a loop only what ends it: a loop that never ends tells nothing. */
function conditions({ node }: Place, source: (node: SyntaxNode) => string): SourceEdit[] {
  const { test, type } = node;
  if (!isNode(test)) return [];
  if (type === "IfStatement" || type === "ConditionalExpression")
    return [
      over(test, "negate_condition", `!(${source(test)})`),
      over(test, "condition_true", "true"),
      over(test, "condition_false", "false"),
    ];
  return type === "WhileStatement" || type === "ForStatement"
    ? [over(test, "condition_false", "false")]
    : [];
}

const LOGIC: Readonly<Record<string, string>> = { "&&": "||", "||": "&&", "??": "&&" };

function logic({ node }: Place, source: (node: SyntaxNode) => string): SourceEdit[] {
  if (node.type !== "LogicalExpression") return [];
  const [left, right] = [node.left, node.right] as [SyntaxNode, SyntaxNode];
  const other = LOGIC[String(node.operator)] as string;
  return [
    over(node, "swap_and_or", `((${source(left)}) ${other} (${source(right)}))`),
    ...(node.operator === "&&"
      ? [
          over(node, "drop_part", `(${source(left)})`),
          over(node, "drop_part", `(${source(right)})`),
        ]
      : []),
  ];
}

const BOUNDS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
};

function comparisons({ node }: Place, source: (node: SyntaxNode) => string): SourceEdit[] {
  const other = node.type === "BinaryExpression" ? BOUNDS[String(node.operator)] : undefined;
  if (other === undefined) return [];
  const [left, right] = [node.left, node.right].map((side) => source(side as SyntaxNode));
  const equality = String(node.operator).length === 3;
  const loose = (side = "") => `String(${side}).trim().toLowerCase()`;
  const ofType = isNode(node.left) && node.left.type === "UnaryExpression";
  return [
    over(node, "other_comparison", `((${left}) ${other} (${right}))`),
    ...(equality && !ofType
      ? [
          over(node, "loose_comparison", `(${loose(left)} ${node.operator} ${loose(right)})`),
          over(
            node,
            "number_comparison",
            `(parseFloat(${left}) ${node.operator} parseFloat(${right}))`,
          ),
        ]
      : []),
  ];
}

function regexes({ node }: Place): SourceEdit[] {
  if (node.type !== "RegExpLiteral") return [];
  const [pattern, flags] = [String(node.pattern), String(node.flags)];
  const edits = regexEdits(pattern).filter(([, edited]) => edited !== "");
  const wider = [...edits.map(([, edited]) => [edited, flags] as const)];
  if (!flags.includes("i") && /[A-Za-z]/.test(pattern.replace(/\\./g, "")))
    wider.push([pattern, `${flags}i`]);
  if (!flags.includes("m") && /[\^$]/.test(pattern)) wider.push([pattern, `${flags}m`]);
  return wider.map(([edited, marks]) => over(node, "regular_expression", `/${edited}/${marks}`));
}

const OTHER_CALL: Readonly<Record<string, string>> = {
  startsWith: "includes",
  endsWith: "includes",
  every: "some",
  some: "every",
};
const DROPPED = new Set([
  "trim",
  "trimEnd",
  "trimStart",
  "toLowerCase",
  "toUpperCase",
  "normalize",
]);

function calls({ node }: Place, source: (node: SyntaxNode) => string): SourceEdit[] {
  if (node.type !== "CallExpression") return [];
  const callee = node.callee as SyntaxNode;
  if (callee.type !== "MemberExpression" || callee.computed) return [];
  const [object, property] = [callee.object, callee.property] as [SyntaxNode, SyntaxNode];
  const name = String(property.name);
  if (DROPPED.has(name)) return [over(node, "drop_call", source(object))];
  if (source(callee) === "Math.abs")
    return [over(node, "drop_call", `(${(node.arguments as SyntaxNode[]).map(source).join()})`)];
  const other = OTHER_CALL[name];
  return other ? [over(property, "other_call", other)] : [];
}

/** Returns that are not the last statement of a function and not the body of an `if`. */
function returns({ node, parent, field }: Place): SourceEdit[] {
  if (node.type !== "ReturnStatement" || parent?.type !== "BlockStatement" || field !== "body")
    return [];
  const siblings = parent.body as SyntaxNode[];
  return siblings.at(-1) === node && siblings.length === 1 ? [] : [over(node, "drop_return", ";")];
}

function constants({ node, parent, field }: Place): SourceEdit[] {
  const key = field === "key" && parent?.computed !== true;
  if (key || field === "source" || parent?.type.startsWith("TS") === true) {
    if (key || field === "source") return [];
  }
  if (node.type === "NumericLiteral") {
    const value = Number(node.value);
    return [over(node, "other_constant", String(value === 1 ? 0 : value + 1))];
  }
  if (node.type === "BooleanLiteral")
    return [over(node, "other_constant", node.value === true ? "false" : "true")];
  if (node.type === "StringLiteral" && node.value !== "" && isCompared(parent, field))
    return [over(node, "empty_text", '""')];
  return [];
}

/** Texts that decide something; messages and codes are left as they are. */
function isCompared(parent: SyntaxNode | undefined, field: string): boolean {
  if (parent?.type === "BinaryExpression") return true;
  if (parent?.type === "VariableDeclarator" && field === "init") return true;
  if (parent?.type !== "CallExpression" || field !== "arguments") return false;
  const callee = parent.callee as SyntaxNode;
  return callee.type === "MemberExpression";
}

function negations({ node }: Place, source: (node: SyntaxNode) => string): SourceEdit[] {
  if (node.type !== "UnaryExpression" || node.operator !== "!") return [];
  return [over(node, "drop_not", `(${source(node.argument as SyntaxNode)})`)];
}
