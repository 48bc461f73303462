import type { ErrorReply, Me } from "../../contract/http/frames.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { operationOf } from "../../usecases/catalog.ts";
import type { WebApp } from "./app.ts";
import {
  type Address,
  Allowance,
  cookieName,
  refuseForeignHost,
  refuseForeignPage,
  refuseForm,
  type Visitor,
  Visitors,
} from "./guard.ts";
import type { Live } from "./live.ts";
import { pageReply } from "./pages.ts";
import { failureReply, json, refusalReply, refuse } from "./replies.ts";
import { bodyOf, type Match, matchRoute, ownAddresses, requestOf } from "./request.ts";

export interface WebServer {
  /** Answers one request. Needs no socket, so tests ask it as the socket does. */
  answer(request: Request): Promise<Response>;
  /** The visitor that may open a socket for live data; or the answer that says why not. */
  admit(request: Request): Promise<Visitor | Response>;
}

interface Terms {
  readonly app: WebApp;
  readonly address: Address;
  readonly epoch: string;
  readonly live: Live;
}

export function makeServer({ app, address, epoch, live }: Terms): WebServer {
  const changes = new Map<string, Allowance>();
  const wrongCodes = new Allowance(20, 1);
  const history = new History(app);
  const visitors = new Visitors(app);
  const started = performance.now();

  const mayChange = ({ id }: Visitor): boolean => {
    const allowance = changes.get(id) ?? new Allowance(120, 20);
    changes.set(id, allowance);
    return allowance.take();
  };

  const admit = async (request: Request): Promise<Visitor | Response> => {
    const foreign = refuseForeignHost(request, address) ?? refuseForeignPage(request, address);
    if (foreign !== undefined) return foreign;
    // A browser cannot send a header along when it opens a socket.
    const pageKey = urlOf(request)?.searchParams.get("key") ?? null;
    const visitor = await visitors.of(request, address, pageKey);
    if (visitor === undefined) return notLoggedIn();
    const isBlind = visitor.byCookie && request.headers.get("origin") === null;
    return isBlind ? refuse(403, "WRONG_ORIGIN", "a socket with a cookie needs the Origin of this page") : visitor;
  };

  const answerApi = async (request: Request, url: URL): Promise<Response> => {
    const isChange = request.method !== "GET" && request.method !== "HEAD";
    const foreign = refuseForeignPage(request, address) ?? (isChange ? refuseForm(request) : undefined);
    if (foreign !== undefined) return foreign;
    const own = Object.hasOwn(ownAddresses, url.pathname) ? (url.pathname as keyof typeof ownAddresses) : undefined;
    if (own !== undefined && ownAddresses[own] !== (request.method === "HEAD" ? "GET" : request.method))
      return wrongMethod([ownAddresses[own]]);
    if (own === "/api/login") return logIn(request);
    const visitor = await visitors.of(request, address, request.headers.get("x-overstory"));
    if (visitor === undefined) return notLoggedIn();
    if (isChange && visitor.byCookie && request.headers.get("origin") === null)
      return refuse(403, "WRONG_ORIGIN", "a change with a cookie needs the Origin of this page; nothing was changed");
    if (own === "/api/logout") return logOut(visitor);
    if (own === "/api/me")
      return json(200, { user: visitor.role, project: app.project, epoch, version: app.version } satisfies Me);
    if (own === "/api/openapi.json") {
      const { openApi } = await import("./openapi.ts");
      return json(200, await openApi(app.version));
    }
    const match = matchRoute(request.method === "HEAD" ? "GET" : request.method, url.pathname);
    if (match === undefined) return refuse(404, "NOT_FOUND", "there is no such address; see /api/openapi.json");
    if ("methods" in match) return wrongMethod(match.methods);
    if (isChange && !mayChange(visitor))
      return refuse(429, "TOO_MANY", "too many changes at once; nothing was changed; try again in a second");
    if (!match.route.isForViewers && visitor.role === "viewer") {
      if (isChange) await audit(match, visitor, false);
      return refuse(403, "VIEWER", "you look with a viewer's key, which this address is not open to");
    }
    return isChange ? change(request, url, match, visitor) : look(request, url, match);
  };

  const look = async (request: Request, url: URL, match: Match): Promise<Response> => {
    const made = await requestOf(match, url.searchParams, {});
    if (!made.ok) return refusalReply(made.refusal);
    const read = async (): Promise<Result<string, Refusal>> => {
      const result = await run(match, made.value);
      return result.ok ? ok(JSON.stringify(match.route.view(result.value as never))) : result;
    };
    const name = `${match.name} ${JSON.stringify(made.value)}`;
    const text = await (match.route.isPaged === true ? history.read(name, read) : read());
    return text.ok ? tagged(request, text.value) : refusalReply(text.refusal);
  };

  /** Whatever becomes of a change, it is on record. */
  const change = async (request: Request, url: URL, match: Match, visitor: Visitor): Promise<Response> => {
    let isDone = false;
    let isAudited = false;
    try {
      const body = await bodyOf(request);
      if (body instanceof Response) return body;
      const made = await requestOf(match, url.searchParams, body);
      if (!made.ok) return refusalReply(made.refusal);
      if (match.route.isLong === true) {
        const operation = live.startOperation(async (tell) => {
          const result = await run(match, made.value, tell).catch((error: unknown) => ({ error }));
          await audit(match, visitor, "ok" in result && result.ok);
          if ("error" in result) return errorOf(failureReply(result.error));
          if (!result.ok) return errorOf(refusalReply(result.refusal));
          return { reply: match.route.view(result.value as never) };
        });
        isAudited = operation !== undefined;
        if (operation === undefined)
          return refuse(429, "TOO_MANY", "too many long operations at once; nothing was changed");
        return json(202, { operation });
      }
      const result = await run(match, made.value);
      isDone = result.ok;
      if (!result.ok) return refusalReply(result.refusal);
      return json(200, match.route.view(result.value as never));
    } finally {
      if (!isAudited) await audit(match, visitor, isDone);
    }
  };

  /** The schema of the operation was compared with the request, so the types that its name no longer tells fit. */
  const run = async ({ route: { operation } }: Match, request: unknown, tell: (item: unknown) => void = () => {}) => {
    const isStream = (await operationOf(operation)).kind === "stream";
    if (isStream) return app.follow(operation as never, request as never, { onItem: tell });
    return app.call(operation, request as never);
  };

  const audit = async ({ name, params }: Match, { role, id }: Visitor, isDone: boolean): Promise<void> => {
    const target = Object.values(params).join(" ");
    await app.call("web.recordChange", { route: name, role, key: id, target, isDone });
  };

  const logIn = async (request: Request): Promise<Response> => {
    const body = await bodyOf(request);
    if (body instanceof Response) return body;
    const { code } = body;
    if (typeof code !== "string" || code.length > 200 || Object.keys(body).length !== 1)
      return refuse(400, "VALIDATION_ERROR", "code must be a text, and all there is");
    const known = await app.call("web.readKey", { secret: code, kind: "code" });
    const isWrong = !known.ok || known.value.role === null;
    // A right code always counts: otherwise another user of this machine could try wrong codes and block the login.
    if (isWrong && !wrongCodes.take())
      return refuse(429, "TOO_MANY", "too many wrong codes at once; try again in a second");
    const key = isWrong ? undefined : await app.call("web.logIn", { code });
    if (key?.ok !== true)
      return refuse(401, "WRONG_CODE", "the code was used already or is too old", "get a new one with: ov serve login");
    const [cookieHalf = "", pageKey = ""] = key.value.secret.split(".");
    return json(200, { user: key.value.role, pageKey }, { "set-cookie": cookie(cookieHalf, 7 * 24 * 3600) });
  };

  const logOut = async ({ secret, id }: Visitor): Promise<Response> => {
    await app.call("web.logOut", { secret });
    changes.delete(id);
    await live.dropEnded();
    return json(200, { loggedOut: true }, { "set-cookie": cookie("", 0) });
  };

  const cookie = (half: string, seconds: number): string =>
    `${cookieName(address)}=${half}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;

  const answerAny = async (request: Request): Promise<Response> => {
    const foreign = refuseForeignHost(request, address);
    if (foreign !== undefined) return foreign;
    const url = urlOf(request);
    if (url === undefined) return refuse(400, "VALIDATION_ERROR", "this is no address");
    if (url.pathname === "/healthz")
      return json(200, { status: "ok", uptimeMs: Math.round(performance.now() - started), version: app.version });
    if (url.pathname.startsWith("/api/") || url.pathname === "/api") return answerApi(request, url);
    return pageReply(app.ui, request, url.pathname);
  };

  return {
    admit: (request) => admit(request).catch(failureReply),
    answer: async (request) => {
      try {
        return await answerAny(request);
      } catch (error) {
        return failureReply(error);
      }
    },
  };
}

const errorOf = async (reply: Response): Promise<ErrorReply> => (await reply.json()) as ErrorReply;

/** A request without a usable Host has no whole address. */
export const urlOf = ({ url }: Request): URL | undefined => URL.parse(url) ?? undefined;

const notLoggedIn = (): Response => refuse(401, "LOGIN_NEEDED", "log in first", "get a code with: ov serve login");

function wrongMethod(methods: readonly string[]): Response {
  const reply = refuse(405, "WRONG_METHOD", `this address takes ${methods.join(", ")}`);
  reply.headers.set("allow", methods.join(", "));
  return reply;
}

/** Pages of history depend on the store alone: the same text until something is committed, made once for all that ask. */
class History {
  readonly #app: WebApp;
  readonly #pages = new Map<string, Promise<Result<string, Refusal>>>();
  #version = "";

  constructor(app: WebApp) {
    this.#app = app;
  }

  async read(name: string, make: () => Promise<Result<string, Refusal>>): Promise<Result<string, Refusal>> {
    const version = await this.#app.storeVersion();
    if (version !== this.#version || this.#pages.size >= mostPages) this.#pages.clear();
    this.#version = version;
    const known = this.#pages.get(name);
    if (known !== undefined) return known;
    const made = make();
    this.#pages.set(name, made);
    made.catch(() => this.#pages.delete(name));
    return made;
  }
}

const mostPages = 100;

/** Lists are asked for again and again; most have not changed. */
function tagged({ headers }: Request, text: string): Response {
  const etag = `W/"${Bun.hash(text).toString(36)}"`;
  const known = headers
    .get("if-none-match")
    ?.split(",")
    .map((tag) => tag.trim());
  const more = { etag, "cache-control": "no-cache" };
  return known?.includes(etag) === true ? bare(304, more) : bare(200, more, text);
}

const bare = (status: number, headers: Record<string, string>, text: string | null = null): Response => {
  const reply = json(status, null, headers);
  return new Response(text, { status, headers: reply.headers });
};
