import { type Code, childOf, fieldOf, hasToken, nodesOf, partsOf, type Triple, textOf } from "../syntax.ts";
import { freshLeaves, parameterNames } from "./lost-names.ts";

/** What callers of a function rely on. */
export interface Signature {
  readonly parameters: readonly string[];
  readonly returns: string;
  /** `async`, `*`, `static`, `get` and the like, and whether it is a function at all. */
  readonly manner: string;
}

/** The signature of a function, method or variable; a variable's is its kind, its type and the sort of its value. */
export function signatureOf(code: Code): Signature {
  const value = fieldOf(code, "value") ?? fieldOf(code, "right");
  const callable =
    parametersOf(code) === undefined && value !== undefined && parametersOf(value) !== undefined ? value : code;
  const tokens = ["async", "*", "static", "get", "set", "?", "readonly", "abstract"];
  const modifiers = [
    fieldOf(code, "type_parameters"),
    fieldOf(callable, "type_parameters"),
    childOf(code, "accessibility_modifier"),
  ];
  const manner = [
    ...tokens.filter((token) => hasToken(code, token) || hasToken(callable, token)),
    ...new Set(modifiers.flatMap((modifier) => (modifier === undefined ? [] : [tidy(textOf(modifier))]))),
  ];
  const list = parametersOf(callable);
  if (list === undefined) {
    const type = fieldOf(code, "type");
    const sort = code.node.type === "type_alias_declaration" ? "" : sortOf(value);
    return { parameters: [], returns: type === undefined ? "" : tidy(textOf(type)), manner: `${manner} ${sort}` };
  }
  const returns = fieldOf(callable, "return_type");
  return {
    parameters: partsOf(list).map((parameter) => tidy(textOf(parameter))),
    returns: returns === undefined ? "" : tidy(textOf(returns)),
    manner: `${manner} ${yields(callable) ? "generator" : "function"}`,
  };
}

const parametersOf = (code: Code): Code | undefined => fieldOf(code, "parameters") ?? fieldOf(code, "parameter");
const tidy = (text: string): string => text.replace(/\s+/g, " ").replace(/,\s*([)}\]])/g, "$1");
/** What sort of thing a value is; of an object, also what made it. */
const sortOf = (value: Code | undefined): string => {
  if (value === undefined) return "";
  const maker = value.node.type === "new_expression" ? fieldOf(value, "constructor") : undefined;
  return maker === undefined ? value.node.type : `${value.node.type} ${textOf(maker)}`;
};

/** A Python function that yields returns an iterator, even if its head says otherwise. */
function yields(callable: Code): boolean {
  if (callable.language !== "python") return false;
  const inside = nodesOf(
    callable,
    (node) => node === callable.node || !/^(function_definition|lambda)$/.test(node.type),
  );
  return [...inside].some(({ node }) => node.type === "yield");
}

/** Whether code written for the old signature still fits the new one: only optional parameters were appended. */
export function isCompatible(was: Signature, is: Signature): boolean {
  if (was.manner !== is.manner || (was.returns !== "" && was.returns !== is.returns)) return false;
  if (was.parameters.some((parameter, index) => !keeps(parameter, is.parameters[index]))) return false;
  return is.parameters.slice(was.parameters.length).every((parameter) => /=|^\.\.\.|^\*|^[\w$]+\?/.test(parameter));
}

/** The same parameter, or the same with a type where it had none. */
const keeps = (was: string, is: string | undefined): boolean =>
  was === is || (is !== undefined && /^[\w$]+$/.test(was) && is.startsWith(`${was}:`) && !is.includes("="));

/**
 * Whether a side changed what a function returns or how it runs, as opposed to what it takes, while the other side's edit
 * of its body returns something, hands something on or speaks of the object it belongs to.
 */
export function mannerClash({ base, ours, theirs }: Triple<Code>): boolean {
  return mannerOn(base, ours, theirs) || mannerOn(base, theirs, ours);
}

function mannerOn(base: Code, changer: Code, user: Code): boolean {
  const [was, is] = [signatureOf(base), signatureOf(changer)];
  if (is.manner === was.manner && (was.returns === "" || is.returns === was.returns)) return false;
  const body = fieldOf(user, "body");
  if (body === undefined || !/^(statement_)?block$/.test(body.node.type)) return true;
  return (
    freshLeaves(base, user).some(
      ({ text, around }) =>
        /^(this|self|cls|super|arguments)$/.test(text) ||
        around.some(({ type }) => /^(return_statement|yield|yield_expression|await|await_expression)$/.test(type)),
    ) || exits(user) !== exits(base)
  );
}

const exits = (code: Code): number =>
  [...nodesOf(code)].filter(({ node }) => /^(return_statement|yield|yield_expression)$/.test(node.type)).length;

/** A parameter that one side changed or removed and that the other side's edit of the same function mentions. */
export function parameterClash({ base, ours, theirs }: Triple<Code>): string | undefined {
  return clashOn(base, ours, theirs) ?? clashOn(base, theirs, ours);
}

/** A parameter, or each property of a destructured one, with the type that was written for all of it. */
function piecesOf(parameter: Code): { text: string; names: string[] }[] {
  const pattern = fieldOf(parameter, "pattern") ?? parameter;
  if (pattern.node.type !== "object_pattern")
    return [{ text: tidy(textOf(parameter)), names: parameterNames(parameter) }];
  const around = tidy(textOf(parameter).replace(textOf(pattern), ""));
  return partsOf(pattern).map((property) => ({
    text: `${tidy(textOf(property))}${around}`,
    names: parameterNames(property),
  }));
}

function clashOn(base: Code, changer: Code, user: Code): string | undefined {
  const [was, is] = [parametersOf(base), parametersOf(changer)];
  if (was === undefined || is === undefined || textOf(was) === textOf(is)) return undefined;
  const pieces = {
    was: partsOf(was).flatMap(piecesOf),
    is: new Set(
      partsOf(is)
        .flatMap(piecesOf)
        .map(({ text }) => text),
    ),
  };
  const changed = new Set(pieces.was.filter(({ text }) => !pieces.is.has(text)).flatMap(({ names }) => names));
  return freshLeaves(base, user).find(({ text }) => changed.has(text))?.text;
}
