import { Failure } from "../domain/failure.ts";

/** How long a unit of work is repeated, or waits for a lock, before it gives up with `store-busy`. */
export const patienceMs = 10_000;

/** The database as it may be shown: without user and password. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) throw new Failure({ kind: "unexpected", problem: "the PostgreSQL address is not a URL" });
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/** What an error says about itself: the client's `code` and the server's SQLSTATE. */
export function faultOf(error: unknown): { readonly code?: string; readonly state?: string } {
  if (!(error instanceof Error)) return {};
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const state = "errno" in error && typeof error.errno === "string" ? { state: error.errno } : {};
  return { ...code, ...state };
}

/** The failure a recognised error stands for; anything else comes back as it is. */
export function translated(place: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Failure) return error;
  const { state = "" } = faultOf(error);
  const cause = { cause: error };
  if (state === "XX001" || state === "XX002")
    return new Failure({ kind: "store-corrupt", path: place, problem: error.message }, cause);
  if (state === "25006") return new Failure({ kind: "store-read-only", path: place }, cause);
  if (state === "53100") return new Failure({ kind: "disk-full", path: place }, cause);
  if (state === "55P03") return new Failure({ kind: "store-busy", path: place, waitedMs: patienceMs }, cause);
  if (isConnectionLoss(error) || refused.test(state))
    return new Failure({ kind: "unexpected", problem: `${place} cannot be reached: ${error.message}` }, cause);
  return error;
}

/** The server went away, restarts, or has no connection left: the same call may work a moment later. */
export function isConnectionLoss(error: unknown): boolean {
  const { code = "", state = "" } = faultOf(error);
  return code.startsWith("ERR_POSTGRES_CONNECTION") || /^(08|53300|57P0)/.test(state);
}

/** Wrong credentials, or no such database: trying again would not help. */
const refused = /^(28|3D000)/;
