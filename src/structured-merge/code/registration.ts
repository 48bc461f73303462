import { isQuiet } from "./purity.ts";
import { type Code, fieldOf, partsOf, textOf } from "./syntax.ts";
import type { Unit } from "./unit.ts";

/**
 * Whether two units only announce different things to the same place, so that their order cannot be noticed: routes whose
 * paths never fit one request, commands and tasks known by the name of their function.
 */
export function announceApart(one: Unit, other: Unit): boolean {
  const [left, right] = [announcementOf(one), announcementOf(other)];
  if (left === undefined || right === undefined || left.to !== right.to) return false;
  if (left.path === undefined || right.path === undefined) return left.path === right.path && one.key !== other.key;
  return (
    (left.verb !== right.verb && left.verb !== "any" && right.verb !== "any") || areDisjoint(left.path, right.path)
  );
}

interface Announcement {
  /** What it is announced to. */
  readonly to: string;
  /** `any` where it answers to all. */
  readonly verb: string;
  /** Undefined where the name of the function is what it is known by. */
  readonly path: string | undefined;
}

const verbs = "get|post|put|patch|delete|head|options";
const routed = new RegExp(`^@\\s*([\\w.]+)\\.(${verbs}|route|websocket)\\(\\s*(["'])([^"'{}]*)\\3[^()]*\\)$`, "i");
/** In a class the place it is announced to is the class. */
const controlled = new RegExp(`^@\\s*(${verbs}|all)\\(\\s*(?:(["'])([^"']*)\\2)?\\s*\\)$`, "i");
const named = /^@\s*([\w.]+)\.(command|task|tool|fixture)\(\s*\)$/;

function announcementOf(unit: Unit): Announcement | undefined {
  if (unit.code === undefined) return undefined;
  if (unit.code.node.type === "expression_statement") return calledOn(unit.code);
  const { src, node } = unit.code;
  const decorators = node.children
    .filter(({ type }) => type === "decorator")
    .map(({ start, end }) => src.slice(start, end));
  const handler = decorators.map((text) => controlled.exec(text)).find((found) => found !== null);
  if (handler) return { to: "the controller", verb: verbOf(handler[1]), path: handler[3] ?? "" };
  const [only = ""] = decorators.length === 1 ? decorators : [];
  const route = routed.exec(only);
  if (route !== null) return { to: route[1] ?? "", verb: verbOf(route[2]), path: route[4] };
  const name = named.exec(only);
  return name === null ? undefined : { to: `${name[1]}.${name[2]}`, verb: "any", path: undefined };
}

const verbOf = (word = ""): string => (/^(route|all)$/i.test(word) ? "any" : word.toLowerCase());

const router = /^\w*(app|router|routes|server|api)$/i;

/** `app.get("/path", handler)`, where making the handlers does nothing. */
function calledOn(statement: Code): Announcement | undefined {
  const [call] = partsOf(statement);
  const callee = call?.node.type === "call_expression" ? fieldOf(call, "function") : undefined;
  const [object, property] = [callee && fieldOf(callee, "object"), callee && fieldOf(callee, "property")];
  const list = call && fieldOf(call, "arguments");
  if (object === undefined || property === undefined || list === undefined) return undefined;
  const [path, ...handlers] = partsOf(list);
  const verb = textOf(property);
  if (!router.test(textOf(object)) || !new RegExp(`^(${verbs})$`).test(verb)) return undefined;
  if (path?.node.type !== "string" || handlers.length === 0 || !handlers.every(isQuiet)) return undefined;
  return { to: textOf(object), verb, path: textOf(path).slice(1, -1) };
}

/** No request fits both paths: they differ in a step that is fixed in both, or in their number of steps. */
function areDisjoint(one: string, other: string): boolean {
  const [left, right] = [stepsOf(one), stepsOf(other)];
  if (left === undefined || right === undefined) return false;
  if (left.length !== right.length) return true;
  return left.some((step, index) => {
    const opposite = right[index] ?? "";
    return isFixed(step) && isFixed(opposite) && step.toLowerCase() !== opposite.toLowerCase();
  });
}

const isFixed = (step: string): boolean => /^[\w.~-]*$/.test(step);

/** Undefined for patterns that may stand for any number of steps. */
function stepsOf(path: string): string[] | undefined {
  if (/[*?+()\\^$]|<path:|:path\b/.test(path)) return undefined;
  return path.split("/").filter((step) => step !== "");
}
