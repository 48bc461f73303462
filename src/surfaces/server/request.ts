import { placeOf } from "../../contract/http/route.ts";
import { type AnyRoute, type RouteName, routes } from "../../contract/http/routes.ts";
import { type InvalidInput, invalid } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { requestProblem } from "../../domain/schema/check.ts";
import type { ObjectSchema, Schema } from "../../domain/schema/schema.ts";
import { operationOf } from "../../usecases/catalog.ts";
import { refuse } from "./replies.ts";

interface Known {
  readonly name: RouteName;
  readonly route: AnyRoute;
  readonly method: string;
  readonly segments: readonly string[];
}

const known: readonly Known[] = Object.entries(routes).map(([name, route]) => {
  const [method = "", path = ""] = name.split(" ");
  // The table gives each name its own types; here only their common part is used.
  return { name: name as RouteName, route: route as unknown as AnyRoute, method, segments: path.split("/") };
});

/** Addresses of the server itself, beside those of the table of routes. */
export const ownAddresses = {
  "/api/login": "POST",
  "/api/logout": "POST",
  "/api/me": "GET",
  "/api/openapi.json": "GET",
} as const;

export interface Match {
  readonly name: RouteName;
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** The route of an address; or the methods that the address has; or nothing, when there is no such address. */
export function matchRoute(method: string, path: string): Match | { readonly methods: readonly string[] } | undefined {
  const segments = path.split("/");
  const fitting = known.filter((one) => one.segments.length === segments.length && fits(one.segments, segments));
  const found = fitting
    .filter((one) => one.method === method)
    .toSorted((a, b) => literals(b.segments) - literals(a.segments))[0];
  if (found === undefined) return fitting.length === 0 ? undefined : { methods: fitting.map((one) => one.method) };
  const params = found.segments.flatMap((segment, at) =>
    segment.startsWith(":") ? [[segment.slice(1), decoded(segments[at] ?? "")] as const] : [],
  );
  if (params.some(([, value]) => value === undefined || value === "")) return undefined;
  return { name: found.name, route: found.route, params: Object.fromEntries(params) as Record<string, string> };
}

const literals = (segments: readonly string[]): number => segments.filter((one) => !one.startsWith(":")).length;

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.every((part, at) => part.startsWith(":") || part === segments[at]);

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that begins nothing.
    return undefined;
  }
}

const longestPage = 500;

/** The request of a route's operation, made of the parts of an address and its body, and checked. */
export async function requestOf(
  { route, params }: Match,
  query: URLSearchParams,
  body: Readonly<Record<string, unknown>>,
): Promise<Result<unknown, InvalidInput>> {
  const { request: schema } = await operationOf(route.operation);
  const properties = propertiesOf(schema);
  // Without a prototype: a field called `__proto__` is a field like any other, and unknown.
  const made: Record<string, unknown> = Object.assign(Object.create(null), route.defaults);
  const fieldOf = (name: string): string => ownOf(route.names ?? {}, name) ?? name;
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (name === "cursor" && route.isPaged === true) {
      if (values.length > 1) return no(invalid(name, "must not be given twice"));
      const place = placeOf(values[0] ?? "");
      if (place === undefined) return no(invalid("cursor", "is not one that this server gave out"));
      Object.assign(made, place);
      continue;
    }
    const field = fieldOf(name);
    made[field] = coerced(ownOf(properties, field), values);
    if (values.length > 1 && !Array.isArray(made[field])) return no(invalid(name, "must not be given twice"));
    const isPageSize = name === "limit" && typeof made[field] === "number";
    if (isPageSize && (Number(made[field]) < 1 || Number(made[field]) > longestPage))
      return no(invalid("limit", `must be a number from 1 to ${longestPage}`));
  }
  for (const [name, value] of Object.entries(body)) made[fieldOf(name)] = value;
  for (const [name, value] of Object.entries(params))
    made[fieldOf(name)] = coerced(ownOf(properties, fieldOf(name)), [value]);
  Object.assign(made, route.fixed);
  const problem = requestProblem(schema, made) ?? nulProblem(made);
  return problem === undefined ? ok({ ...made }) : no(problem);
}

/** No program of the system takes a text with a NUL in it, and no text of a person has one. */
function nulProblem(request: Readonly<Record<string, unknown>>): InvalidInput | undefined {
  const field = Object.keys(request).find((name) => hasNul(request[name]));
  return field === undefined ? undefined : invalid(field, "must not have a NUL character in it");
}

function hasNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, one]) => name.includes("\0") || hasNul(one));
}

/** Names of strangers may be those of every object, as `constructor` is. */
const ownOf = <T>(of: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;

export function propertiesOf(schema: Schema): ObjectSchema["properties"] {
  if (schema.type === "object") return schema.properties;
  const forms = schema.type === undefined && schema.anyOf !== undefined ? schema.anyOf : [];
  return Object.assign({}, ...forms.map(propertiesOf));
}

/** A text of an address as the value that the field wants. What does not fit stays a text, and is refused as that. */
function coerced(schema: Schema | undefined, values: readonly string[]): unknown {
  const [value = ""] = values;
  switch (schema?.type) {
    case "integer":
    case "number":
      return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
    case "boolean":
      return value === "true" || value === "" ? true : value === "false" ? false : value;
    case "array":
      return values.flatMap((one) => one.split(",")).map((one) => coerced(schema.items, [one]));
    case undefined: {
      const [first] = (schema as { anyOf?: readonly Schema[] } | undefined)?.anyOf ?? [];
      return first === undefined ? value : coerced(first, values);
    }
    default:
      return value;
  }
}

/** More than any change needs. */
const maxBodyBytes = 1024 * 1024;
const slowestBodyMs = 10_000;

/** The body as an object; or the answer that says what is wrong with it. An absent body is an empty object. */
export async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>> | Response> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBodyBytes) return tooLarge();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const reader = request.body?.getReader();
  const tooSlow = AbortSignal.timeout(slowestBodyMs);
  const end = new Promise<undefined>((resolve) => tooSlow.addEventListener("abort", () => resolve(undefined)));
  for (let isOver = reader === undefined; !isOver; ) {
    const read = await Promise.race([reader?.read(), end]);
    if (read === undefined) return refuse(408, "TOO_SLOW", "the body did not come in time; nothing was changed");
    bytes += read.value?.length ?? 0;
    if (bytes > maxBodyBytes) return tooLarge();
    if (read.value !== undefined) parts.push(read.value);
    isOver = read.done;
  }
  try {
    // What is no UTF-8 would be stored as other words than were sent.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
    if (text.trim() === "") return {};
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  } catch {
    // The sender is told that it is no JSON in UTF-8.
  }
  return refuse(400, "VALIDATION_ERROR", "the body must be a JSON object; nothing was changed");
}

const tooLarge = (): Response => refuse(413, "TOO_LARGE", "the body is larger than 1 MiB; nothing was changed");
