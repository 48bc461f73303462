import { expect, test } from "bun:test";
import { type AnyRoute, routes } from "../../src/contract/http/routes.ts";
import type { Schema } from "../../src/domain/schema/schema.ts";
import { propertiesOf } from "../../src/surfaces/server/request.ts";
import { operationOf } from "../../src/usecases/catalog.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { connect, serveWeb } from "../../testkit/web.ts";
import { webHandler } from "../../testkit/web-handler.ts";

/** The same requests in every run. `FUZZ_SEED=<number>` asks others. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_118);
const inProcess = Number(process.env.FUZZ_REQUESTS ?? 20_000);
const overSocket = 800;
/** A route that works for long is asked wrong things only, once its time is used up. */
const msForRoute = 400;
/** What goes on after its answer takes time that is not seen here. */
const msForLong = 40;
const longRoutes = new Set(
  Object.entries(routes).flatMap(([name, route]) => ((route as unknown as AnyRoute).isLong === true ? [name] : [])),
);

/** A small generator of numbers, so that a seed means the same everywhere (mulberry32). */
class Random {
  #state: number;
  constructor(from: number) {
    this.#state = from >>> 0;
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(n: number): number {
    return Math.floor(this.next() * n);
  }
  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
  chance(share: number): boolean {
    return this.next() < share;
  }
}

const wildTexts = [
  "",
  " ",
  "T1",
  "operator",
  "b1",
  "@all",
  "main",
  "1",
  "-1",
  "null",
  "__proto__",
  "constructor",
  "toString",
  "../../etc/passwd",
  "<script>alert(1)</script>",
  "\u001b[31m\u0000\u0007",
  "\u202eabc\u2066",
  "\ud800",
  "💥".repeat(50),
  "a".repeat(10_000),
  "';DROP TABLE events;--",
  "%00%ff%E0%A4%A",
  "--flag",
  "\n\r\t",
  "ﬀŞ√",
  '{"a":1}',
] as const;
const wildNumbers = [
  0,
  -1,
  1,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  -1e308,
  0.1,
  1e-300,
  Number.MAX_SAFE_INTEGER,
] as const;

function wild(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 2 ? 5 : 7);
  if (kind === 0) return random.of(wildTexts);
  if (kind === 1) return random.of(wildNumbers);
  if (kind === 2) return random.chance(0.5);
  if (kind === 3) return null;
  if (kind === 4) return random.below(1_000_000);
  const size = random.below(4);
  if (kind === 5) return Array.from({ length: size }, () => wild(random, depth + 1));
  return Object.fromEntries(Array.from({ length: size }, () => [random.of(wildTexts), wild(random, depth + 1)]));
}

/** Mostly what the schema asks for, sometimes anything. */
function valueFor(schema: Schema, random: Random, depth = 0): unknown {
  if (random.chance(0.08)) return wild(random);
  switch (schema.type) {
    case "string":
      return schema.enum === undefined ? random.of(wildTexts) : random.of(schema.enum);
    case "integer":
      return random.chance(0.7) ? random.below(600) : random.of(wildNumbers);
    case "number":
      return random.chance(0.7) ? random.next() * 100 : random.of(wildNumbers);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "array":
      return Array.from({ length: random.below(4) }, () => valueFor(schema.items, random, depth + 1));
    case "object":
      return fieldsFor(schema.properties, random, depth + 1);
    default:
      return schema.anyOf === undefined ? wild(random) : valueFor(random.of(schema.anyOf), random, depth + 1);
  }
}

function fieldsFor(properties: Readonly<Record<string, Schema>>, random: Random, depth = 0): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    if (schema !== null && random.chance(0.7)) made[name] = valueFor(schema, random, depth);
  }
  if (random.chance(0.1)) made[random.of(wildTexts)] = wild(random);
  return made;
}

interface Asked {
  readonly route: string;
  readonly method: string;
  readonly address: string;
  readonly body: string | undefined;
  readonly headers: Record<string, string>;
}

interface Known {
  readonly name: string;
  readonly properties: Readonly<Record<string, Schema>>;
}

const knownRoutes = (): Promise<readonly Known[]> =>
  Promise.all(
    Object.entries(routes).map(async ([name, route]) => {
      const { request } = await operationOf((route as unknown as AnyRoute).operation);
      return { name, properties: propertiesOf(request) };
    }),
  );

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll("%2F", "%2f");

function requestFor(known: readonly Known[], random: Random, isSpent: (name: string) => boolean): Asked {
  const headers: Record<string, string> = { host: "127.0.0.1:7321" };
  if (random.chance(0.05)) {
    const path = Array.from({ length: 1 + random.below(4) }, () => encoded(random.of(wildTexts))).join("/");
    const prefix = random.of(["/", "/api/", "/api", "/api/agents/", "/assets/", "/ws/"]);
    return { route: "(any)", method: random.of(methods), address: `${prefix}${path}`, body: undefined, headers };
  }
  const { name, properties } = random.of(known);
  const [own = "GET", path = ""] = name.split(" ");
  const method = random.chance(0.95) ? own : random.of(methods);
  const filled = path.replaceAll(/:[A-Za-z]+/g, () => encoded(random.of(wildTexts)) || "x");
  const fields = isSpent(name) ? { [random.of(wildTexts)]: wild(random) } : fieldsFor(properties, random);
  if (method === "GET" || method === "HEAD") {
    const query = new URLSearchParams();
    for (const [field, value] of Object.entries(fields)) {
      const values = Array.isArray(value) ? value : [value];
      for (const one of values) query.append(field, typeof one === "string" ? one.toWellFormed() : JSON.stringify(one));
    }
    if (random.chance(0.15)) query.set("cursor", random.of(["x", "e30", btoa('{"before":5}'), btoa('{"after":-1}')]));
    if (random.chance(0.1)) query.set("limit", String(random.of(wildNumbers)));
    return { route: name, method, address: `${filled}?${query}`, body: undefined, headers };
  }
  headers["content-type"] = random.chance(0.97) ? "application/json" : random.of(["text/plain", "", "*/*"]);
  if (random.chance(0.98)) headers["x-overstory"] = "1";
  const text = JSON.stringify(fields);
  const body = random.chance(0.05) ? text.slice(0, random.below(text.length)) : text;
  return { route: name, method, address: filled, body, headers };
}

/** What is wrong with an answer, whatever was asked; undefined for a good one. */
async function problemOf(reply: Response, { method, address }: Asked): Promise<string | undefined> {
  const text = await reply.text();
  if (reply.status >= 500) return `status ${reply.status}: ${text.slice(0, 300)}`;
  if (reply.headers.get("x-content-type-options") !== "nosniff") return "without nosniff";
  if (reply.headers.has("access-control-allow-origin")) return "offered to other origins";
  if (method === "HEAD" || reply.status === 304) return undefined;
  const type = reply.headers.get("content-type") ?? "";
  if (reply.status < 400) return /^(application\/json|text\/html)/.test(type) ? undefined : `of type ${type}`;
  // Where the page has nothing, it says so itself.
  const isPage = reply.status === 404 && !/^\/(api|assets)\//.test(address);
  if (isPage && type.startsWith("text/html")) return undefined;
  if (type !== "application/json") return `an error of type ${type}`;
  const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
  const isShaped = typeof error?.code === "string" && typeof error.message === "string" && error.message !== "";
  return isShaped ? undefined : `an error of another shape: ${text.slice(0, 200)}`;
}

async function seedProject(project: TestProject): Promise<void> {
  await project.json("task", "create", "For the fuzz", "--id", "T1");
  await project.json("group", "create", "g1", "T1");
  await project.json("mail", "send", "--to", "operator", "--subject", "s", "--body", "b");
  await project.json("engine", "stop");
}

test(`whatever is asked of any address, the answer is no failure of ours and has its shape (seed ${seed})`, async () => {
  await using project = await makeProject({});
  await seedProject(project);
  await using handler = await webHandler(project);
  const random = new Random(seed);
  const known = await knownRoutes();
  const spent = new Map<string, number>();
  const statuses = new Map<number, number>();
  const problems: string[] = [];
  const began = performance.now();
  let server = handler.fresh();
  for (let at = 0; at < inProcess; at++) {
    // Limits are tried elsewhere.
    if (at % 50 === 0) server = handler.fresh();
    const isSpent = (name: string): boolean => (spent.get(name) ?? 0) > (longRoutes.has(name) ? msForLong : msForRoute);
    const asked = requestFor(known, random, isSpent);
    const { method, address, body, headers, route } = asked;
    const shown = random.chance(0.97) ? { authorization: `Bearer ${handler.token}` } : {};
    const init = { method, headers: { ...headers, ...shown }, ...(body === undefined ? {} : { body }) };
    const from = performance.now();
    const reply = await server.answer(new Request(`http://127.0.0.1:7321${address}`, init));
    spent.set(route, (spent.get(route) ?? 0) + performance.now() - from);
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    const problem = await problemOf(reply, asked);
    if (problem !== undefined)
      problems.push(`${at} ${method} ${address.slice(0, 200)} ${body?.slice(0, 300)}: ${problem}`);
  }
  const took = Math.round(performance.now() - began);
  console.log(`seed ${seed}: ${inProcess} requests in ${took} ms; ${JSON.stringify(Object.fromEntries(statuses))}`);
  expect(problems.slice(0, 10)).toEqual([]);
  // Otherwise the requests would be too wild to get anywhere.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(inProcess / 20);
}, 120_000);

test(`the same over the socket, and frames that are none (seed ${seed + 1})`, async () => {
  await using project = await makeProject({});
  await seedProject(project);
  const web = await serveWeb(project);
  const token = String((await project.json("serve", "login", "--token")).token);
  const random = new Random(seed + 1);
  const known = (await knownRoutes()).filter(({ name }) => name.startsWith("GET ") && !name.includes("doctor"));
  const live = await connect(web.url, { authorization: `Bearer ${token}` });
  const problems: string[] = [];
  for (let at = 0; at < overSocket; at++) {
    const asked = requestFor(known, random, () => false);
    const { host: _, ...headers } = asked.headers;
    const init = { method: asked.method, headers: { ...headers, authorization: `Bearer ${token}` } };
    const reply = await fetch(web.url + asked.address, {
      ...init,
      ...(asked.body === undefined ? {} : { body: asked.body }),
    });
    // Longer headers than the socket takes do not reach us.
    const problem = reply.status === 431 ? undefined : await problemOf(reply, asked);
    if (problem !== undefined) problems.push(`${asked.method} ${asked.address.slice(0, 200)}: ${problem}`);
    const frame = random.chance(0.5)
      ? { op: random.of(["sub", "unsub", "ping"]), id: "f", topic: random.of(wildTexts) }
      : wild(random);
    if (at % 10 === 0) live.send(frame as object);
  }
  live.send({ op: "sub", id: "after", topic: "fleet" });
  await live.until(({ op, id }) => op === "snapshot" && id === "after");
  live.close();
  expect(problems.slice(0, 10)).toEqual([]);
}, 120_000);
