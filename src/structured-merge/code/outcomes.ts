import { type Code, fieldOf, nodesOf, partsOf, type SyntaxNode, textOf } from "./syntax.ts";

/**
 * The sorts of thing a function visibly gives back: nothing, an object, a list or tuple of so many. Whoever calls it counts on
 * these, though no head mentions them. Sorts that only running would tell are left out.
 */
export function outcomesOf(code: Code): string {
  const callable = callableIn(code);
  if (callable === undefined) return "";
  const body = fieldOf(callable, "body");
  if (body === undefined) return "";
  if (!/^(statement_)?block$/.test(body.node.type)) return sortOf(body) ?? "";
  const inside = nodesOf(body, (node) => !functions.test(node.type));
  const returns = [...inside].filter(({ node }) => node.type === "return_statement");
  const sorts = returns.map((statement) => {
    const [value] = partsOf(statement);
    return value === undefined ? "nothing" : sortOf(value);
  });
  return [...new Set(sorts.filter((sort) => sort !== undefined))].sort().join(" ");
}

const functions =
  /^(function_(declaration|expression|definition)|generator_function(_declaration)?|arrow_function|method_definition|lambda|class_(declaration|definition|body))$/;

function callableIn(code: Code): Code | undefined {
  if (/^(class|class_definition|class_declaration)$/.test(code.node.type)) return undefined;
  if (fieldOf(code, "parameters") !== undefined || fieldOf(code, "parameter") !== undefined) return code;
  const holder = [code, ...partsOf(code)].map((part) => fieldOf(part, "value") ?? fieldOf(part, "right"));
  return holder.find((value) => value !== undefined && functions.test(value.node.type));
}

function sortOf(value: Code): string | undefined {
  const inner = value.node.type === "parenthesized_expression" ? (partsOf(value)[0] ?? value) : value;
  const { type } = inner.node;
  const count = named(inner.node).length;
  if (/^(null|none|undefined)$/i.test(type) || textOf(inner) === "undefined") return "nothing";
  if (type === "object" || type === "dictionary") return "object";
  if (type === "array" || type === "list") return "list";
  return /^(tuple|expression_list)$/.test(type) ? `tuple ${count}` : undefined;
}

const named = ({ children }: SyntaxNode): SyntaxNode[] => children.filter((child) => child.named);
