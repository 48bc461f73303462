import {
  type Code,
  childOf,
  fieldOf,
  hasToken,
  nodesOf,
  partsOf,
  type SyntaxNode,
  type Triple,
  textOf,
} from "../syntax.ts";
import { type Declared, inventory, topNames, unionLiterals } from "./inventory.ts";
import { declaredIn, type FreshLeaf, freshLeaves } from "./lost-names.ts";
import { isCompatible, type Signature } from "./signature.ts";

/**
 * A conflict that no text comparison sees: one side removed or changed something that the other side has just begun to
 * rely on.
 */
export function semanticConflict({ base, ours, theirs }: Triple<Code>): string | undefined {
  return reliedOn({ base, changer: ours, user: theirs }) ?? reliedOn({ base, changer: theirs, user: ours });
}

interface Roles {
  readonly base: Code;
  readonly changer: Code;
  readonly user: Code;
}

function reliedOn(roles: Roles): string | undefined {
  const fresh = freshLeaves(roles.base, roles.user);
  if (fresh.length === 0) return undefined;
  const was = inventory(roles.base);
  const is = new Map(inventory(roles.changer).map((declared) => [declared.path, declared]));
  const still = new Map(inventory(roles.user).map((declared) => [declared.path, declared]));
  const signatures = { was: signaturesOf(was), is: signaturesOf([...inventory(roles.changer)]) };
  const mentions = mentionsIn(fresh);
  for (const declared of was) {
    const now = is.get(declared.path);
    // What the user still declares there is the thing itself, not a use of it.
    const used = mentions(declared, ownPlace(still.get(declared.path), { whole: now === undefined }));
    if (!used) continue;
    if (now === undefined) return `${declared.name} was removed or renamed on one side and is newly used on the other`;
    const overloads =
      (signatures.was.get(declared.path)?.length ?? 1) > 1 || (signatures.is.get(declared.path)?.length ?? 1) > 1;
    const fits = overloads
      ? keepsAll(signatures.was.get(declared.path) ?? [], signatures.is.get(declared.path) ?? [])
      : isCompatible(declared.signature, now.signature);
    if (!fits) {
      return `the signature of ${declared.name} changed on one side and the other side newly uses it`;
    }
    const gives = { was: outcomesOf(declared.code), is: outcomesOf(now.code) };
    const mended = textOf(declared.code) !== textOf(now.code) && usesMended(roles, { was: declared, is: now });
    if (mended || gives.was !== gives.is) {
      return `one side changed what ${declared.name} gives back and the other side newly uses it`;
    }
  }
  return (
    lostLiteral(roles, fresh) ??
    captured(roles, fresh) ??
    newDuty({ was, is, fresh, user: roles.user }) ??
    otherHeritage({ was, is, fresh, user: roles.user })
  );
}

/** Whether a declaration is mentioned on fresh lines, where no parameter or variable of a function hides it. */
function mentionsIn(fresh: readonly FreshLeaf[]): (declared: Declared, own: Span | undefined) => boolean {
  const byText = Map.groupBy(fresh, ({ text }) => text);
  return ({ name, top }, own) => {
    const isOwn = ({ start }: FreshLeaf) => own !== undefined && start >= own.start && start < own.end;
    const leaves = (byText.get(name) ?? []).filter((leaf) => !isOwn(leaf));
    return top ? leaves.some((leaf) => !isKey(leaf)) : leaves.length > 0;
  };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where a declaration stands: all of it, or only its name. */
function ownPlace(declared: Declared | undefined, { whole }: { whole: boolean }): Span | undefined {
  if (declared === undefined || whole) return declared?.code.node;
  const names = [...nodesOf(declared.code)].filter((part) => part.node.children.length === 0);
  return names.find((part) => textOf(part) === declared.name)?.node;
}

const signaturesOf = (all: readonly Declared[]): Map<string, Signature[]> =>
  new Map(
    [...Map.groupBy(all, ({ path }) => path)].map(([path, same]) => [path, same.map(({ signature }) => signature)]),
  );

/** Each of the old forms is still one of the forms, and as often. */
function keepsAll(was: readonly Signature[], is: readonly Signature[]): boolean {
  const left = is.map((signature) => JSON.stringify(signature));
  return was.every((signature) => {
    const place = left.indexOf(JSON.stringify(signature));
    return place !== -1 && left.splice(place, 1).length === 1;
  });
}

/** A name that only labels a property cannot mean a declaration of the file. */
const isKey = ({ type, around: [parent] }: FreshLeaf): boolean =>
  type === "property_identifier" &&
  /^(pair|method_definition|property_signature|public_field_definition|field_definition)$/.test(parent?.type ?? "");

function lostLiteral({ base, changer }: Roles, fresh: readonly FreshLeaf[]): string | undefined {
  const lost = unionLiterals(base).difference(unionLiterals(changer));
  const isMember = ({ around }: FreshLeaf) => around.some(({ type }) => type === "literal_type");
  const found = fresh.find(
    (leaf) => lost.has(leaf.text) && /string|number|true|false/.test(leaf.type) && !isMember(leaf),
  );
  return found && `the union member ${found.text} was removed on one side and is newly used on the other`;
}

/** A new name at the top of the file must not catch what the other side meant for something outside the file. */
function captured({ base, changer, user }: Roles, fresh: readonly FreshLeaf[]): string | undefined {
  const added = topNames(changer).difference(topNames(base));
  if (added.size === 0) return undefined;
  const known = declaredIn(user);
  const caught = fresh.find(
    ({ text, type }) => /^(type_)?identifier$/.test(type) && added.has(text) && !known.has(text),
  );
  return caught && `one side added ${caught.text} and the other side newly uses another ${caught.text}`;
}

interface Duty {
  readonly was: readonly Declared[];
  readonly is: ReadonlyMap<string, Declared>;
  readonly fresh: readonly FreshLeaf[];
  readonly user: Code;
}

/** A member that implementers must now have, while the other side has just written an implementer. */
function newDuty({ was, is, fresh }: Duty): string | undefined {
  const known = new Set(was.map(({ path }) => path));
  for (const { path, code } of is.values()) {
    const required =
      /^(property_signature|method_signature|abstract_method_signature)$/.test(code.node.type) && !hasToken(code, "?");
    const owner = path.split("/").at(-2) ?? "";
    if (!required || known.has(path)) continue;
    const implementer = fresh.find((leaf) => leaf.text === owner && makesOne(leaf.around));
    const takers = new Set(was.flatMap((one) => (takes(one, owner) ? [one.name] : [])));
    const giver = fresh.find((leaf) => takers.has(leaf.text) && givesLiteral(leaf.around));
    if (implementer !== undefined || giver !== undefined)
      return `${owner} got a required member on one side and a new implementer on the other`;
  }
  return undefined;
}

/** A class with another base class now, while the other side has just written code that may rely on the old one. */
function otherHeritage({ was, is, fresh, user }: Duty): string | undefined {
  for (const { path, name, code } of was) {
    const now = is.get(path)?.code;
    if (now === undefined || heritageOf(code) === "" || heritageOf(code) === heritageOf(now)) continue;
    const relies = fresh.some(
      ({ text, around }) =>
        /^(super|this|self|cls)$/.test(text) && around.some((node) => isNamed({ ...user, node }, name)),
    );
    if (relies) return `${name} inherits from something else on one side and the other side uses what it inherits`;
  }
  return undefined;
}

const heritageOf = (code: Code): string => {
  const heritage = childOf(code, "class_heritage") ?? fieldOf(code, "superclasses");
  return heritage === undefined ? "" : textOf(heritage).replace(/\s+/g, " ");
};

const isNamed = (code: Code, name: string): boolean => {
  const own = /^(abstract_)?class/.test(code.node.type) ? fieldOf(code, "name") : undefined;
  return own !== undefined && textOf(own) === name;
};

const takes = ({ signature }: Declared, type: string): boolean =>
  signature.parameters.some((parameter) => parameter.split(/[^\w$]+/).includes(type));

/** The leaf is what is called, with an object written out among the arguments. */
const givesLiteral = (around: readonly SyntaxNode[]): boolean => {
  const call = around.slice(0, 2).find(({ type }) => /^(call|new)_expression$/.test(type));
  const list = call?.children.find(({ field }) => field === "arguments");
  return list?.children.some(({ type }) => type === "object") === true;
};

const makesOne = (around: readonly SyntaxNode[]): boolean => {
  const place = around.findIndex(({ type }) =>
    /^(implements_clause|extends_clause|extends_type_clause|class_heritage|satisfies_expression|as_expression|type_annotation)$/.test(
      type,
    ),
  );
  const holder = around[place + 1];
  if (around[place]?.type !== "type_annotation") return place !== -1;
  return holder !== undefined && !/parameter|property_signature/.test(holder.type);
};

/**
 * Whether a side that rewrote a function also changed what stands around existing calls of it: `parse(s) + 1` became
 * `parse(s).value + 1`. Then what it gives is another thing, though its head says nothing of that.
 */
function usesMended(
  { base, changer }: { readonly base: Code; readonly changer: Code },
  { was, is }: { readonly was: Declared; readonly is: Declared },
): boolean {
  const old = surroundings(base, was);
  const now = surroundings(changer, is);
  return [...old].some(([around, count]) => (now.get(around) ?? 0) < count) && sum(now) >= sum(old);
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, one) => all + one, 0);

/** How often calls of it, outside of itself, stand in each kind of place. */
function surroundings(root: Code, { name, code }: Declared): Map<string, number> {
  const counts = new Map<string, number>();
  const walk = (node: SyntaxNode, parent: SyntaxNode | undefined): void => {
    if (node.start === code.node.start && node.end === code.node.end) return;
    if (/^call(_expression)?$/.test(node.type) && calls({ ...root, node }, name)) {
      // What a value is taken apart into says as much of it as what is done with it.
      const target = parent?.children.find(({ field }) => field === "name" || field === "left");
      const parts = target?.children.filter(({ named }) => named).length ?? 0;
      const around = `${parent?.type ?? ""} ${target?.type ?? ""} ${parts}`;
      counts.set(around, (counts.get(around) ?? 0) + 1);
    }
    for (const child of node.children) walk(child, node);
  };
  walk(root.node, undefined);
  return counts;
}

function calls(call: Code, name: string): boolean {
  const callee = fieldOf(call, "function");
  if (callee === undefined) return false;
  const last = fieldOf(callee, "property") ?? fieldOf(callee, "attribute") ?? callee;
  return textOf(last) === name;
}

/**
 * The sorts of thing a function visibly gives back: nothing, an object, a list or tuple of so many. Callers rely on
 * these, though no head mentions them. Sorts that only running would tell are left out.
 */
function outcomesOf(code: Code): string {
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
