import { isTestCall } from "./meaning/naming.ts";
import { mannerClash, parameterClash } from "./meaning/signature.ts";
import { mergeBlock, mergeText } from "./merge-block.ts";
import {
  type Code,
  childOf,
  eachOf,
  fieldOf,
  no,
  ok,
  partsOf,
  pick,
  type Result,
  type Triple,
  textOf,
} from "./syntax.ts";
import { mergeContainer } from "./units/merge-container.ts";
import { mergeImport } from "./units/merge-import.ts";
import { mergeUnits } from "./units/merge-units.ts";
import type { Unit } from "./units/unit.ts";

/** Nodes that only wrap another one: where both sides changed them, at most one side may have changed the wrapping. */
const wrappers: Readonly<Record<string, readonly string[]>> = {
  export_statement: ["declaration", "value"],
  variable_declarator: ["value"],
  class_declaration: ["body"],
  abstract_class_declaration: ["body"],
  class: ["body"],
  interface_declaration: ["body"],
  enum_declaration: ["body"],
  internal_module: ["body"],
  module: ["body"],
  pair: ["value"],
  public_field_definition: ["value"],
  field_definition: ["value"],
  property_signature: ["type"],
  type_alias_declaration: ["value"],
  decorated_definition: ["definition"],
  assignment: ["right"],
  assignment_expression: ["right"],
  switch_statement: ["body"],
  if_statement: ["consequence"],
  for_statement: ["body"],
  for_in_statement: ["body"],
  while_statement: ["body"],
  with_statement: ["body"],
  try_statement: ["body"],
  member_expression: ["object"],
  function_declaration: ["body"],
  generator_function_declaration: ["body"],
  function_expression: ["body"],
  generator_function: ["body"],
  method_definition: ["body"],
  arrow_function: ["body"],
  function_definition: ["body"],
};
/** Wrappers around their only part. */
const shells = [
  "ambient_declaration",
  "expression_statement",
  "lexical_declaration",
  "variable_declaration",
  "return_statement",
  "parenthesized_expression",
  "type_annotation",
  "as_expression",
  "satisfies_expression",
  "await_expression",
];
const containers = [
  "class_body",
  "interface_body",
  "object_type",
  "enum_body",
  "object",
  "object_pattern",
  "named_imports",
  "export_clause",
  "dictionary",
  "switch_body",
  "class_definition",
];
const functionLike = /^(function_|generator_function|method_definition|arrow_function)/;

/** Head and value of these are one thought: an edit of each by different sides is an edit of the same thing. */
const oneThing =
  /^(variable_declarator|property_signature|(public_)?field_definition|assignment(_expression)?|type_alias_declaration|lexical_declaration|variable_declaration|member_expression)$/;

/** Merges three versions of one node; the value is the text that takes its place. */
export function mergeNode(versions: Triple<Code>): Result<string, string> {
  const same = pick(eachOf(versions, textOf));
  if (same !== undefined) return ok(same);
  const { type } = versions.ours.node;
  const union = mergeUnion(versions);
  if (union !== undefined) return union;
  if (versions.base.node.type !== type || versions.theirs.node.type !== type) {
    return mergeCovered(versions) ?? mergeText(versions);
  }
  if (type === "import_statement" || type === "import_from_statement") return mergeImport(versions, mergers);
  if (type === "program") return mergeContainer(versions, mergers);
  if (type === "module" && versions.ours.language === "python") return mergeContainer(versions, mergers);
  if (containers.includes(type)) return mergeContainer(versions, mergers);
  if (type === "statement_block" || type === "block") return mergeBlock(versions, mergeNode);
  if (type === "array" || type === "list") return mergeBlock(versions, mergeNode);
  if (type === "call_expression") return mergeCall(versions);
  return mergeWrapped(versions) ?? mergeText(versions);
}

/** A declaration that one side has put behind `export` or under a decorator, or taken out from there. */
function mergeCovered(versions: Triple<Code>): Result<string, string> | undefined {
  const inner = eachOf(versions, (code) => fieldOf(code, "declaration") ?? fieldOf(code, "definition") ?? code);
  if (!allEqual(eachOf(inner, ({ node }) => node.type)) || allEqual(eachOf(versions, ({ node }) => node.type)))
    return undefined;
  const head = pick(eachPair(versions, inner, headOf));
  const tail = pick(eachPair(versions, inner, tailOf));
  if (head === undefined || tail === undefined) return undefined;
  const merged = mergeNode(inner);
  return merged.ok ? ok(`${head}${merged.value}${tail}`) : merged;
}

/** What the containers need to settle a unit that both sides changed or added. */
const mergers = {
  changed: (versions: Triple<Unit>): Result<Unit, string> => mergeUnit(versions),
  added: (ours: Unit, theirs: Unit): Result<Unit, string> => mergeAdded(ours, theirs),
};

function mergeUnit(versions: Triple<Unit>): Result<Unit, string> {
  const { base, ours, theirs } = versions;
  const before =
    pick(eachOf(versions, (unit) => unit.before.trim())) === undefined
      ? undefined
      : pickLoosely(versions, (unit) => unit.before);
  const after = pickLoosely(versions, (unit) => unit.after);
  const label = ours.key;
  if (before === undefined) return no(`both sides changed the comment above "${label}"`);
  if (after === undefined) return no(`both sides changed what stands behind "${label}"`);
  const code = base.code && ours.code && theirs.code && { base: base.code, ours: ours.code, theirs: theirs.code };
  const text = code === undefined ? mergeOverloads(versions) : mergeNode(code);
  if (!text.ok) return no(text.refusal.includes('"') ? text.refusal : `${text.refusal}, in "${short(label)}"`);
  return ok({ ...ours, before, text: text.value, after });
}

const short = (label: string): string => (label.length > 60 ? `${label.slice(0, 57)}...` : label).replace(/\n/g, " ");

/** Three-way by meaning: spaces alone are no change. */
function pickLoosely(versions: Triple<Unit>, of: (unit: Unit) => string): string | undefined {
  const { base, ours, theirs } = eachOf(versions, of);
  if (ours.trim() === theirs.trim() || theirs.trim() === base.trim()) return ours;
  return ours.trim() === base.trim() ? theirs : undefined;
}

/** Overloads mean something only together, so two different edits of a set are left to a person. */
function mergeOverloads({ ours }: Triple<Unit>): Result<string, string> {
  return no(`both sides changed "${short(ours.key)}", which cannot be looked into`);
}

/** Two new imports from one module, or two new export lists, are one list. */
function mergeAdded(ours: Unit, theirs: Unit): Result<Unit, string> {
  const refused = no(`both sides added "${short(ours.key)}" with different content`);
  if (ours.code === undefined || theirs.code === undefined) return refused;
  if (ours.before.trim() !== "" || theirs.before.trim() !== "" || ours.after.trim() !== theirs.after.trim())
    return refused;
  if (!/^(import|from) /.test(ours.key)) return refused;
  const text = mergeImport({ base: undefined, ours: ours.code, theirs: theirs.code }, mergers);
  return text.ok ? ok({ ...ours, text: text.value }) : refused;
}

function mergeWrapped(versions: Triple<Code>): Result<string, string> | undefined {
  const inner = unpacked(versions) ?? innerOf(versions);
  if (inner === undefined) return undefined;
  const heads = eachPair(versions, inner, headOf);
  const [head, tail] = [pick(heads), pick(eachPair(versions, inner, tailOf))];
  if (tail === undefined) return no("both sides changed its head");
  if (head === undefined) return mergeProperties(versions, inner) ?? no("both sides changed its head");
  if (oneThing.test(versions.ours.node.type) && !allEqual(heads))
    return no("one side changed its head and both its value");
  if (functionLike.test(versions.ours.node.type)) {
    const clash = parameterClash(versions);
    if (clash !== undefined) return no(`one side changed the parameter ${clash} and the other side uses it`);
    if (mannerClash(versions)) return no("one side changed what it returns or how it runs, and both its body");
  }
  const isBody = inner.ours.node.type === "statement_block" && /module/.test(versions.ours.node.type);
  const isNames = inner.ours.node.type === "list" && headOf(versions.ours, inner.ours).trim() === "__all__ =";
  const merged = isBody || isNames ? mergeContainer(inner, mergers) : mergeNode(inner);
  return merged.ok ? ok(`${head}${merged.value}${tail}`) : merged;
}

/** A function whose one destructured parameter got new properties from both sides: `({ a, b }: Props)`. */
function mergeProperties(versions: Triple<Code>, body: Triple<Code>): Result<string, string> | undefined {
  const lists = functionLike.test(versions.ours.node.type) ? part(versions, "parameters") : undefined;
  const only = lists && eachOf(lists, (list) => (partsOf(list).length === 1 ? partsOf(list)[0] : undefined));
  if (!only?.base || !only.ours || !only.theirs) return undefined;
  const pattern = eachOf(
    { base: only.base, ours: only.ours, theirs: only.theirs },
    (code) => fieldOf(code, "pattern") ?? code,
  );
  if (![pattern.base, pattern.ours, pattern.theirs].every(({ node }) => node.type === "object_pattern"))
    return undefined;
  const lead = pick(eachPair(versions, pattern, headOf));
  const rest = pick(eachPair(pattern, body, (from, to) => from.src.slice(from.node.end, to.node.start)));
  const clash = parameterClash(versions);
  if (clash !== undefined) return no(`one side changed the parameter ${clash} and the other side uses it`);
  const properties = mergeContainer(pattern, mergers);
  const inside = mergeNode(body);
  if (lead === undefined || rest === undefined || !properties.ok || !inside.ok) return undefined;
  return ok(lead + properties.value + rest + inside.value + tailOf(versions.ours, body.ours));
}

const eachPair = (
  outer: Triple<Code>,
  inner: Triple<Code>,
  of: (outer: Code, inner: Code) => string,
): Triple<string> => ({
  base: of(outer.base, inner.base),
  ours: of(outer.ours, inner.ours),
  theirs: of(outer.theirs, inner.theirs),
});

/** `const { a, b } = source` with one source on all sides: the names taken out of it are a set. */
function unpacked(versions: Triple<Code>): Triple<Code> | undefined {
  if (versions.ours.node.type !== "variable_declarator") return undefined;
  const [value, name] = [part(versions, "value"), part(versions, "name")];
  if (value === undefined || name === undefined || !allEqual(eachOf(value, textOf))) return undefined;
  return allEqual(eachOf(name, ({ node }) => node.type)) && name.ours.node.type === "object_pattern" ? name : undefined;
}

const headOf = (outer: Code, inner: Code): string => outer.src.slice(outer.node.start, inner.node.start);
const tailOf = (outer: Code, inner: Code): string => outer.src.slice(inner.node.end, outer.node.end);

function innerOf(versions: Triple<Code>): Triple<Code> | undefined {
  const { base, ours, theirs } = eachOf(versions, wrappedIn);
  return base && ours && theirs && { base, ours, theirs };
}

function wrappedIn(code: Code): Code | undefined {
  const { type } = code.node;
  const fields = wrappers[type];
  if (fields !== undefined) {
    const field = fields.find((name) => fieldOf(code, name) !== undefined);
    return field === undefined ? childOf(code, "export_clause") : fieldOf(code, field);
  }
  const parts = partsOf(code);
  if (type === "as_expression" || type === "satisfies_expression") return parts[0];
  return shells.includes(type) && parts.length === 1 ? parts[0] : undefined;
}

/** A call with the same callee whose only changed argument can be looked into, such as `defineConfig({ ... })`. */
function mergeCall(versions: Triple<Code>): Result<string, string> {
  const callee = part(versions, "function");
  const list = part(versions, "arguments");
  if (callee === undefined || list === undefined) return mergeText(versions);
  const sameList = allEqual(eachOf(list, textOf));
  if (sameList) {
    const merged = mergeNode(callee);
    return merged.ok ? ok(merged.value + tailOf(versions.ours, callee.ours)) : merged;
  }
  if (!allEqual(eachOf(callee, textOf))) return no("both sides changed one call");
  const args = eachOf(list, partsOf);
  if (args.base.length !== args.ours.length || args.base.length !== args.theirs.length) return mergeText(versions);
  const differing = args.base.flatMap((base, index) => {
    const [ours, theirs] = [args.ours[index], args.theirs[index]];
    if (ours === undefined || theirs === undefined) return [];
    return allEqual(eachOf({ base, ours, theirs }, textOf)) ? [] : [{ base, ours, theirs }];
  });
  const [only] = differing;
  if (only === undefined || differing.length > 1) return mergeText(versions);
  const head = pick(eachPair(versions, only, headOf));
  const tail = pick(eachPair(versions, only, tailOf));
  if (head === undefined || tail === undefined) return no("both sides changed one call");
  const suite =
    isTestCall(versions.ours) && /^(describe|suite|context)$/.test(textOf(callee.ours)) ? suiteBody(only) : undefined;
  const merged = suite ?? mergeNode(only);
  return merged.ok ? ok(`${head}${merged.value}${tail}`) : merged;
}

/** The tests of a suite are told apart by their titles, so its callback is a keyed container. */
function suiteBody(callback: Triple<Code>): Result<string, string> | undefined {
  const body = part(callback, "body");
  if (body === undefined || body.ours.node.type !== "statement_block") return undefined;
  const heads = eachPair(callback, body, headOf);
  if (!allEqual(heads)) return undefined;
  const merged = mergeContainer(body, mergers);
  return merged.ok ? ok(`${heads.ours}${merged.value}${tailOf(callback.ours, body.ours)}`) : merged;
}

function part(versions: Triple<Code>, field: string): Triple<Code> | undefined {
  const { base, ours, theirs } = eachOf(versions, (code) => fieldOf(code, field));
  return base && ours && theirs && { base, ours, theirs };
}

const allEqual = ({ base, ours, theirs }: Triple<string>): boolean => base === ours && base === theirs;

const simple =
  /^(literal_type|type_identifier|predefined_type|generic_type|nested_type_identifier|array_type|template_literal_type|undefined|null|object_type|tuple_type)$/;

/** Merges union types as sets of members; undefined where the three versions are not all unions of plain types. */
function mergeUnion(versions: Triple<Code>): Result<string, string> | undefined {
  if (![versions.base, versions.ours, versions.theirs].some(({ node }) => node.type === "union_type")) return undefined;
  const members = eachOf(versions, membersOf);
  const { base, ours, theirs } = members;
  if (base === undefined || ours === undefined || theirs === undefined) return undefined;
  const refuse = () => no("both sides changed one member of the union");
  const units = mergeUnits({ base, ours, theirs }, { changed: refuse, added: refuse });
  if (!units.ok) return units;
  const layout = pick(eachOf(versions, (code) => joinerOf(code)));
  if (layout === undefined || units.value.length === 0) return no("both sides laid the union out differently");
  const lead = pick(eachOf(versions, leadOf));
  if (lead === undefined) return no("both sides laid the union out differently");
  return ok(lead + units.value.map(({ text }) => text).join(layout));
}

function membersOf(code: Code): Unit[] | undefined {
  const flat = flatten(code);
  if (flat === undefined) return undefined;
  const units = flat.map((member): Unit => {
    const text = textOf(member);
    return { key: `member ${text}`, names: [], flow: "free", code: undefined, gap: "", before: "", text, after: "" };
  });
  return new Set(units.map(({ key }) => key)).size === units.length ? units : undefined;
}

function flatten(code: Code): Code[] | undefined {
  if (code.node.type !== "union_type")
    return simple.test(code.node.type) && !textOf(code).includes("\n") ? [code] : undefined;
  if (code.node.children.some(({ type }) => type === "comment")) return undefined;
  const parts = partsOf(code).map(flatten);
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

/** How the members are joined: ` | ` or one to a line. A type of one member has no say. */
function joinerOf(code: Code): string {
  const [first, second] = flatten(code) ?? [];
  return first === undefined || second === undefined ? " | " : code.src.slice(first.node.end, second.node.start);
}

/** What stands before the first member, such as the bar that opens a union written one to a line. */
const leadOf = (code: Code): string => {
  const [first] = flatten(code) ?? [];
  return first === undefined ? "" : code.src.slice(code.node.start, first.node.start);
};
