import { type Code, childOf, fieldOf, nodesOf, partsOf, textOf } from "./syntax.ts";

/**
 * A parameter or a field of a Python data class without a default behind one with a default: no such program runs, yet
 * each side's half of it does. Answers with its name when the result has one more of them than either side.
 */
export function newLateRequired(result: Code, ours: Code, theirs: Code): string | undefined {
  const known = new Set([...lateRequired(ours), ...lateRequired(theirs)]);
  return lateRequired(result).find((name) => !known.has(name));
}

function lateRequired(root: Code): string[] {
  return [...nodesOf(root)].flatMap((code) => {
    if (/^(parameters|formal_parameters)$/.test(code.node.type)) return behindDefault(partsOf(code).map(parameter));
    return isDataClass(code) ? behindDefault(fieldsOf(code)) : [];
  });
}

interface Slot {
  readonly name: string;
  readonly kind: "required" | "optional" | "apart";
}

/** Names of what is required although something optional stands before it; behind a bare star order is free. */
function behindDefault(slots: readonly Slot[]): string[] {
  const first = slots.findIndex(({ kind }) => kind === "optional");
  const end = slots.findIndex(({ kind }) => kind === "apart");
  if (first === -1) return [];
  return slots
    .slice(first, end === -1 ? undefined : end)
    .filter(({ kind }) => kind === "required")
    .map(({ name }) => name);
}

function parameter(code: Code): Slot {
  const { type } = code.node;
  const name = textOf(code);
  if (/splat|separator|rest/.test(type) || /^(\*|\.\.\.)/.test(name)) return { name, kind: "apart" };
  const optional =
    /^(default_parameter|typed_default_parameter|optional_parameter|assignment_pattern)$/.test(type) ||
    fieldOf(code, "value") !== undefined;
  return { name, kind: optional ? "optional" : "required" };
}

function isDataClass(code: Code): boolean {
  if (code.node.type === "class_definition" && /NamedTuple\b/.test(textOf(fieldOf(code, "superclasses") ?? none(code))))
    return true;
  const decorator = code.node.type === "decorated_definition" ? childOf(code, "decorator") : undefined;
  return (
    decorator !== undefined &&
    /^@\s*[\w.]*(dataclass|attrs?\.\w+|define)\b/.test(textOf(decorator)) &&
    !/kw_only\s*=\s*True/.test(textOf(decorator))
  );
}

const none = (code: Code): Code => ({ ...code, node: { ...code.node, end: code.node.start } });

function fieldsOf(code: Code): Slot[] {
  const definition = fieldOf(code, "definition") ?? code;
  const body = fieldOf(definition, "body");
  return (body === undefined ? [] : partsOf(body)).flatMap((statement): Slot[] => {
    const field = statement.node.type === "expression_statement" ? childOf(statement, "assignment") : undefined;
    const [type, left] = [field && fieldOf(field, "type"), field && fieldOf(field, "left")];
    if (field === undefined || type === undefined || left === undefined || /^ClassVar\b/.test(textOf(type))) return [];
    if (textOf(type) === "KW_ONLY") return [{ name: textOf(left), kind: "apart" }];
    const value = fieldOf(field, "right");
    const required = value === undefined || /^field\((?!.*default)/.test(textOf(value));
    return [
      {
        name: `${textOf(left)} of ${textOf(fieldOf(definition, "name") ?? left)}`,
        kind: required ? "required" : "optional",
      },
    ];
  });
}
