import type { WebRole } from "../../domain/web/web-key.ts";
import type { WebApp } from "./app.ts";
import { refuse } from "./replies.ts";

/** Where the server listens, and by which names it may be called. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
}

const localNames = ["127.0.0.1", "localhost", "[::1]"];

/**
 * A page of another site can have its own name lead to this machine, and then asks us in the name of that site. So only
 * the names that we know ourselves by are answered, whatever is asked for. Under our own names that is our port alone;
 * a name that the operator allowed may belong to a proxy at any port, unless it was allowed with one.
 */
export function refuseForeignHost({ headers }: Request, { host, port, allowedHosts }: Address): Response | undefined {
  const asked = (headers.get("host") ?? "").toLowerCase();
  const own = host.includes(":") ? `[${host}]` : host;
  // A browser leaves out the port where it is 80.
  const names = [...localNames, own.toLowerCase()].flatMap((name) => [
    `${name}:${port}`,
    ...(port === 80 ? [name] : []),
  ]);
  const allowed = allowedHosts.map((name) => name.toLowerCase());
  if ([...names, ...allowed].includes(asked) || allowed.includes(asked.replace(/:\d+$/, ""))) return undefined;
  const hint = "name it in serve.allowedHosts, if it is yours: ov config set serve.allowedHosts <name>";
  return refuse(421, "WRONG_HOST", "this server does not answer to that name; nothing was changed", hint);
}

/** What a browser says about the page that asks. Programs that are no browsers say nothing. */
export function refuseForeignPage({ headers }: Request, { allowedHosts }: Address): Response | undefined {
  const origin = headers.get("origin")?.toLowerCase();
  const host = (headers.get("host") ?? "").toLowerCase();
  // A name that the operator allowed may belong to a proxy of his, which speaks TLS to the browser.
  const isProxied = allowedHosts.some((name) => [host, host.replace(/:\d+$/, "")].includes(name.toLowerCase()));
  const own = isProxied ? [`http://${host}`, `https://${host}`] : [`http://${host}`];
  const isForeign = origin !== undefined && !own.includes(origin);
  const isForeignFetch = ["cross-site", "same-site"].includes(headers.get("sec-fetch-site") ?? "");
  if (!isForeign && !isForeignFetch) return undefined;
  return refuse(403, "WRONG_ORIGIN", "another page asked for this in your name; nothing was changed");
}

/** A form or an image of another page cannot send this header or this type of body without asking us first. */
export function refuseForm({ headers }: Request): Response | undefined {
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json")
    return refuse(415, "WRONG_CONTENT_TYPE", "send application/json; nothing was changed");
  if ((headers.get("x-overstory") ?? "") !== "") return undefined;
  return refuse(403, "HEADER_MISSING", "changes need the header X-Overstory: 1; nothing was changed");
}

export interface Visitor {
  readonly role: WebRole;
  /** Of the session or token. */
  readonly id: string;
  readonly secret: string;
  /** The browser showed a cookie, so a page of another site could have made it ask. */
  readonly byCookie: boolean;
}

/** Pages of other ports of this machine share cookies, so each port has a name of its own. */
export const cookieName = ({ port }: Address): string => `ov-session-${port}`;

/** Keys are looked up again after a commit, and in any case after this time: they end by themselves. */
const keyMs = 1_000;
const mostKeys = 1_000;
/** The use of a key is noted once in this time, so that reading the page does not write the store all the time. */
const useMs = 60_000;

/** Whose request it is. Pages ask for much at once, so what counted a moment ago is not looked up anew. */
export class Visitors {
  readonly #app: WebApp;
  readonly #known = new Map<string, { readonly visitor: Visitor; readonly until: number }>();
  readonly #noted = new Map<string, number>();
  #version = "";

  constructor(app: WebApp) {
    this.#app = app;
  }

  /**
   * The person or program that asks; undefined when it showed nothing that counts. A browser sends its cookies to every
   * port of this machine, so a cookie counts only together with `pageKey`, which the page alone has.
   */
  async of(request: Request, address: Address, pageKey: string | null): Promise<Visitor | undefined> {
    const visitor = await this.#find(request, address, pageKey);
    if (visitor !== undefined) await this.#noteUse(visitor);
    return visitor;
  }

  async #noteUse({ id }: Visitor): Promise<void> {
    const now = performance.now();
    if (now - (this.#noted.get(id) ?? Number.NEGATIVE_INFINITY) < useMs) return;
    if (this.#noted.size >= mostKeys) this.#noted.clear();
    this.#noted.set(id, now);
    // A full disk must not keep anyone from looking.
    await this.#app.call("web.noteKeyUse", { id }).catch(() => undefined);
  }

  async #find({ headers }: Request, address: Address, pageKey: string | null): Promise<Visitor | undefined> {
    const bearer = /^Bearer (\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    if (bearer !== undefined) return this.#holderOf(bearer, false);
    if (pageKey === null) return undefined;
    // Another server of this machine can set a cookie of the same name. It must not keep the page out.
    for (const cookie of cookiesOf(headers.get("cookie") ?? "", cookieName(address)).slice(0, mostCookies)) {
      const visitor = await this.#holderOf(`${cookie}.${pageKey}`, true);
      if (visitor !== undefined) return visitor;
    }
    return undefined;
  }

  async #holderOf(secret: string, byCookie: boolean): Promise<Visitor | undefined> {
    if (secret.length > longestSecret) return undefined;
    const version = await this.#app.storeVersion();
    if (version !== this.#version || this.#known.size >= mostKeys) this.#known.clear();
    this.#version = version;
    const name = `${byCookie} ${secret}`;
    const known = this.#known.get(name);
    if (known !== undefined && known.until > performance.now()) return known.visitor;
    const found = await this.#app.call("web.readKey", { secret, kind: byCookie ? "session" : "token" });
    if (!found.ok || found.value.role === null) return undefined;
    const visitor = { role: found.value.role, id: found.value.id, secret, byCookie };
    if (this.#version === version) this.#known.set(name, { visitor, until: performance.now() + keyMs });
    return visitor;
  }
}

/** Does what the visitor showed still count? It was revoked, or its time was up, otherwise. */
export async function stillCounts(app: WebApp, { secret, byCookie }: Visitor): Promise<boolean> {
  const found = await app.call("web.readKey", { secret, kind: byCookie ? "session" : "token" });
  return found.ok && found.value.role !== null;
}

const longestSecret = 200;
const mostCookies = 4;

const cookiesOf = (header: string, name: string): readonly string[] =>
  header.split(";").flatMap((part) => {
    const [key, value] = part.split("=");
    return key?.trim() === name && value !== undefined ? [value.trim()] : [];
  });

/** A bucket of permissions that fills up again with time. */
export class Allowance {
  readonly #most: number;
  readonly #perSecond: number;
  #left: number;
  #at = performance.now();

  constructor(most: number, perSecond: number) {
    this.#most = most;
    this.#perSecond = perSecond;
    this.#left = most;
  }

  take(): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#most, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
