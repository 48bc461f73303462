import { type Code, childOf, fieldOf, nodesOf, partsOf, type Triple, textOf } from "../syntax.ts";
import { countWords } from "../word-likeness.ts";
import { inventory } from "./inventory.ts";
import { parameterNames } from "./lost-names.ts";
import { namingOf } from "./naming.ts";

/** A fault of a merged file that shows in no part alone; undefined when there is none. */
export function faultIn(versions: Triple<Code>, result: Code): string | undefined {
  const missing = unaccountedDeclaration(versions, result);
  if (missing !== undefined) return `${missing} would be lost, kept against its removal, or doubled`;
  const twin = newTwin(result, versions.ours, versions.theirs);
  if (twin !== undefined) return `${twin} would be declared twice`;
  const doubled = doubledCall(versions, result);
  if (doubled !== undefined) return `both sides added "${doubled.slice(0, 60)}", and it would run twice`;
  const late = newLateRequired(result, versions.ours, versions.theirs);
  if (late !== undefined) return `${late} is required and would stand behind what has a default`;
  if (replacesExports(result) && !replacesExports(versions.ours) && !replacesExports(versions.theirs)) {
    return "one side replaced module.exports and the other added to exports";
  }
  if (mixesIndents(result.src) && !mixesIndents(versions.ours.src) && !mixesIndents(versions.theirs.src)) {
    return "one side indents with tabs and the other with spaces";
  }
  const lost = unaccounted(versions, result);
  return lost === undefined ? undefined : `the change of "${lost.slice(0, 60)}" could not be carried over for certain`;
}

/** A statement of the file that both sides added, each in a place of its own, was meant once. */
function doubledCall({ base, ours, theirs }: Triple<Code>, result: Code): string | undefined {
  const counts = (code: Code): Map<string, number> => {
    const found = new Map<string, number>();
    for (const part of partsOf(code)) {
      if (part.node.type === "expression_statement") found.set(textOf(part), (found.get(textOf(part)) ?? 0) + 1);
    }
    return found;
  };
  const [before, left, right] = [counts(base), counts(ours), counts(theirs)];
  for (const [text, count] of counts(result)) {
    const [was, mine, yours] = [before.get(text) ?? 0, left.get(text) ?? 0, right.get(text) ?? 0];
    if (mine > was && yours > was && count > Math.max(mine, yours)) return text;
  }
  return undefined;
}

const mixesIndents = (text: string): boolean => /^\t/m.test(text) && /^ {2}/m.test(text);

/** Additions to `exports` are lost where `module.exports` becomes another object. */
function replacesExports(code: Code): boolean {
  const keys = partsOf(code).map((part) => namingOf(part).key);
  return keys.includes("assign module.exports") && keys.some((key) => key.startsWith("assign exports."));
}

/** Every declaration of both sides is in the result, every removed one is not. */
function unaccountedDeclaration(versions: Triple<Code>, result: Code): string | undefined {
  const paths = (code: Code) => new Set(inventory(code).map(({ path }) => path));
  const [base, ours, theirs, merged] = [
    paths(versions.base),
    paths(versions.ours),
    paths(versions.theirs),
    paths(result),
  ];
  const wanted = (path: string) =>
    base.has(path) ? ours.has(path) && theirs.has(path) : ours.has(path) || theirs.has(path);
  const all = base.union(ours).union(theirs).union(merged);
  return [...all].find((path) => wanted(path) !== merged.has(path));
}

/**
 * The last check, which does not know how the merge was made: it counts. Each line and each token must occur in the
 * result exactly as often as base, ours and theirs demand. Returns the line or token that was lost, kept against a
 * removal, or doubled.
 */
function unaccounted(versions: Triple<Code>, result: Code): string | undefined {
  const listed = new Set([versions.base, versions.ours, versions.theirs, result].flatMap(listLines));
  const line = miscount({ count: lineCounts, versions, result, skip: (text) => listed.has(text) });
  if (line !== undefined) return line;
  return miscount({ count: tokenCounts, versions, result, skip: () => false });
}

interface Counting {
  readonly count: (code: Code) => Map<string, number>;
  readonly versions: Triple<Code>;
  readonly result: Code;
  readonly skip: (text: string) => boolean;
}

function miscount({ count, versions, result, skip }: Counting): string | undefined {
  const [base, ours, theirs, merged] = [
    count(versions.base),
    count(versions.ours),
    count(versions.theirs),
    count(result),
  ];
  for (const text of new Set([...base.keys(), ...ours.keys(), ...theirs.keys(), ...merged.keys()])) {
    const [least, most] = demanded(base.get(text) ?? 0, ours.get(text) ?? 0, theirs.get(text) ?? 0);
    const found = merged.get(text) ?? 0;
    if ((found < least || found > most) && !skip(text)) return text;
  }
  return undefined;
}

/** How often a thing may occur: both edits applied, or once where both sides may have made the same edit. */
function demanded(base: number, ours: number, theirs: number): readonly [number, number] {
  const both = Math.max(0, ours + theirs - base);
  if (ours > base && theirs > base) return [Math.max(ours, theirs), both];
  if (ours < base && theirs < base) return [both, Math.min(ours, theirs)];
  return [both, both];
}

const tidy = (line: string): string => line.trim().replace(/\s*[,;](\s*(\/\/|#).*)?$/, "$1");

function lineCounts(code: Code): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of code.src.split("\n").map(tidy)) if (line !== "") counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

const rewritten =
  /^(import_statement|import_from_statement|export_clause|union_type|type_alias_declaration|object|object_pattern|object_type|enum_body|dictionary|interface_body)$/;

/** Lines that hold a list written on one line, and its items: a merged list spells them anew, so only tokens count there. */
function listLines(root: Code): string[] {
  return [...nodesOf(root)].flatMap((code) => {
    const { type, start, end } = code.node;
    if (!rewritten.test(type) && !(type === "list" && isNameList(code))) return [];
    const whole = /import|export|union/.test(type);
    if (!whole && textOf(code).includes("\n")) return [];
    const from = root.src.lastIndexOf("\n", start - 1) + 1;
    const to = root.src.indexOf("\n", end);
    const lines = root.src.slice(from, to === -1 ? undefined : to).split("\n");
    return [...lines, ...partsOf(code).map(textOf)].map(tidy);
  });
}

/** The list of a Python module's public names is a set. */
const isNameList = ({ src, node }: Code): boolean => /(^|\n)__all__\s*=\s*$/.test(src.slice(0, node.start));

const separators = new Set([",", ";", "|"]);

function tokenCounts(root: Code): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (text: string, count = 1) => counts.set(text, (counts.get(text) ?? 0) + count);
  for (const code of nodesOf(root, ({ type }) => type !== "string")) {
    const { type, children } = code.node;
    if (children.length > 0 && type !== "string") continue;
    const text = textOf(code);
    if (type === "comment" || type === "jsx_text") for (const [word, count] of countWords(text)) add(word, count);
    else if (!separators.has(text) && text.trim() !== "") add(text);
  }
  return counts;
}

/**
 * A parameter or a field of a Python data class without a default behind one with a default: no such program runs, yet
 * each side's half of it does. Answers with its name when the result has one more of them than either side.
 */
function newLateRequired(result: Code, ours: Code, theirs: Code): string | undefined {
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

const scopes =
  /^(program|module|statement_block|block|class_body|interface_body|object_type|object|enum_body|switch_body|dictionary|named_imports|export_clause)$/;

/** A name that is declared more often in one scope of the result than in any scope like it of either side. */
function newTwin(result: Code, ours: Code, theirs: Code): string | undefined {
  const [left, right] = [twinsOf(ours), twinsOf(theirs)];
  for (const [name, count] of twinsOf(result)) {
    if (count > Math.max(left.get(name) ?? 1, right.get(name) ?? 1)) return name.split(" ").at(-1);
  }
  return undefined;
}

/** For each sort of scope and name, the highest number of times one scope declares it. */
function twinsOf(root: Code): Map<string, number> {
  const most = new Map<string, number>();
  for (const scope of nodesOf(root)) {
    const counts = new Map<string, number>();
    for (const name of namesIn(scope)) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const [name, count] of counts) {
      const label = `${scope.node.type} ${name}`;
      if (count > 1) most.set(label, Math.max(count, most.get(label) ?? 0));
    }
  }
  return most;
}

function namesIn(scope: Code): string[] {
  const { type } = scope.node;
  if (/^jsx_(opening|self_closing)_element$/.test(type)) {
    return partsOf(scope)
      .filter(({ node }) => node.type === "jsx_attribute")
      .map((attribute) => textOf(partsOf(attribute)[0] ?? attribute));
  }
  if (type === "argument_list") {
    return partsOf(scope)
      .filter(({ node }) => node.type === "keyword_argument")
      .map((argument) => textOf(fieldOf(argument, "name") ?? argument));
  }
  const parameters = fieldOf(scope, "parameters");
  if (parameters !== undefined) {
    const body = fieldOf(scope, "body");
    const local = body?.node.type === "statement_block" ? partsOf(body).flatMap(lexicalNames) : [];
    return [...partsOf(parameters).flatMap(parameterNames), ...local];
  }
  if (!scopes.test(type)) return [];
  const parts = partsOf(scope).map((part) => ({ part, ...namingOf(part) }));
  const isVariable = (key: string) => scope.language === "python" && key.startsWith("variable ");
  const defined = new Set(parts.flatMap(({ key, names }) => (isVariable(key) ? [] : names)));
  return parts.flatMap(({ part, key, names }) => {
    // Python may give a variable a value as often as it likes, but not to a name that is also defined.
    if (isVariable(key)) return names.filter((name) => defined.has(name));
    if (type === "switch_body") return [key];
    const isList = names.some((name) => name.startsWith("export "));
    const exported = part.node.type === "export_statement" && !isList ? names : [];
    return [...names, ...exported.map((name) => `export ${name}`)];
  });
}

const lexicalNames = (statement: Code): readonly string[] =>
  /^(lexical_declaration|class_declaration|function_declaration)$/.test(statement.node.type)
    ? namingOf(statement).names
    : [];
