import { type Code, childOf, fieldOf, hasToken, nodesOf, partsOf, textOf } from "../syntax.ts";
import { namingOf, quoteless, unwrap } from "./naming.ts";
import { type Signature, signatureOf } from "./signature.ts";

/** Something with a name that other code can mention: a declaration of the file, or a member at any depth. */
export interface Declared {
  /** Where it stands, by the names around it. */
  readonly path: string;
  readonly name: string;
  readonly code: Code;
  readonly signature: Signature;
  readonly top: boolean;
}

/** Everything declared outside of function bodies. Found without cutting containers, so it can check how they were cut. */
export function inventory(root: Code): Declared[] {
  const all = partsOf(root).flatMap((part) => declarations(part, { path: "", top: true }));
  const seen = new Set<string>();
  // Several methods may set one attribute; it is still one.
  return all.filter(({ path }) => !path.endsWith(" attribute") || (!seen.has(path) && seen.add(path)));
}

interface Place {
  readonly path: string;
  readonly top: boolean;
}

function declarations(outer: Code, place: Place): Declared[] {
  const code = unwrap(outer);
  const { names } = namingOf(outer);
  const declarator = code.node.type.endsWith("_declaration") ? childOf(code, "variable_declarator") : undefined;
  const assigned =
    code.node.type === "expression_statement" ? childOf(code, "assignment", "assignment_expression") : undefined;
  const holder = declarator ?? assigned ?? code;
  const decorators = outer.node.children
    .filter(({ type }) => type === "decorator")
    .map(({ start, end }) => outer.src.slice(start, end));
  const kept = { ...signatureOf(holder), manner: [binding(code), signatureOf(holder).manner, ...decorators].join(" ") };
  const own = names.map((name) => ({
    path: `${place.path}/${name}`,
    name,
    code,
    signature: isTypeOnly(code, name) ? { ...kept, manner: "type only" } : kept,
    top: place.top,
  }));
  const inside = { path: `${place.path}/${names.join(",")}`, top: false };
  return [...own, ...constructorOf(code, inside), ...bodiesOf(holder).flatMap((body) => members(body, inside))];
}

/** An import that is gone when the program runs. */
function isTypeOnly(code: Code, name: string): boolean {
  if (code.node.type !== "import_statement" || code.language === "python") return false;
  if (hasToken(code, "type")) return true;
  return [...nodesOf(code)].some(
    (part) =>
      part.node.type === "import_specifier" &&
      hasToken(part, "type") &&
      textOf(fieldOf(part, "alias") ?? fieldOf(part, "name") ?? part) === name,
  );
}

/** `const` and `let` differ for later assignments; a class and a function differ for callers. */
const binding = (code: Code): string => {
  const kind = fieldOf(code, "kind");
  return kind === undefined ? code.node.type : textOf(kind);
};

const bodies = /^(class_body|interface_body|object_type|enum_body|object|dictionary|statement_block)$/;

function bodiesOf(code: Code): Code[] {
  if (code.node.type === "class_definition") return [fieldOf(code, "body") ?? code];
  const isModule = /module/.test(code.node.type);
  const found: Code[] = [];
  const look = (part: Code) => {
    const { type } = part.node;
    if (type === "statement_block" ? isModule : bodies.test(type)) found.push(part);
    else if (!/function|method|call|array|list$|jsx|parameters/.test(type)) partsOf(part).forEach(look);
  };
  partsOf(code).forEach(look);
  return found;
}

function members(body: Code, place: Place): Declared[] {
  return partsOf(body).flatMap((part) => [...declarations(part, place), ...attributes(part, place)]);
}

/** What methods put on the object: `this.x = ...` and `self.x = ...` declare x. */
function attributes(method: Code, place: Place): Declared[] {
  const code = unwrap(method);
  if (!/^(method_definition|function_definition)$/.test(code.node.type)) return [];
  const found = [...nodesOf(code)].flatMap((part) => {
    if (!/^assignment(_expression)?$/.test(part.node.type)) return [];
    const target = fieldOf(part, "left");
    const name = target && /^(?:this|self)\.([\w$#]+)$/.exec(textOf(target))?.[1];
    return name === undefined || name === "" ? [] : [name];
  });
  const signature: Signature = { parameters: [], returns: "", manner: "attribute" };
  return [...new Set(found)].map((name) => ({
    path: `${place.path}/${name} attribute`,
    name,
    code,
    signature,
    top: false,
  }));
}

/** A class is called with the parameters of its constructor, so it answers for their changes. */
function constructorOf(code: Code, place: Place): Declared[] {
  const body = fieldOf(code, "body");
  if (!/^(class|abstract_class)_(declaration|definition)$/.test(code.node.type) || body === undefined) return [];
  const name = fieldOf(code, "name");
  const maker = partsOf(body)
    .map(unwrap)
    .find((member) => /^(constructor|__init__)$/.test(textOf(fieldOf(member, "name") ?? member)));
  const fields = maker === undefined && code.language === "python" ? partsOf(body).filter(isField).map(textOf) : [];
  const signature = maker === undefined ? { parameters: fields, returns: "", manner: "" } : signatureOf(maker);
  return name === undefined
    ? []
    : [{ path: `${place.path} constructor`, name: textOf(name), code, signature, top: false }];
}

const isField = (part: Code): boolean => {
  const assigned = part.node.type === "expression_statement" ? childOf(part, "assignment") : undefined;
  return assigned !== undefined && fieldOf(assigned, "type") !== undefined;
};

/** The string members of the unions of a file, such as `"open"` in `type State = "open" | "done"`. */
export function unionLiterals(root: Code): Set<string> {
  const found = [...nodesOf(root)].filter(({ node }) => node.type === "literal_type");
  return new Set(found.map((code) => quoteless(textOf(code))));
}

/** Names bound at the top of the file. */
export const topNames = (root: Code): Set<string> =>
  new Set(
    partsOf(root).flatMap((part) =>
      part.node.type === "export_statement" && childOf(part, "export_clause") ? [] : namingOf(part).names,
    ),
  );
