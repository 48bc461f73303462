import type { Replies } from "./types.ts";

/** A reply that is no success, in the server's own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  constructor(
    status: number,
    { code, message, hint, details }: { code: string; message: string; hint?: string | undefined; details?: object },
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
    this.details = { ...details };
  }
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** Reads a route. Names in its path (`:name`) are taken from `given`, all others become the query. */
export const read = <Path extends keyof Replies>(path: Path, given: Query = {}): Promise<Replies[Path]> =>
  call("GET", addressOf(path, given));

/** Asks the server to change something. */
export const change = <Reply = unknown>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body: unknown = {},
): Promise<Reply> => call(method, path, body);

export function addressOf(path: string, given: Query): string {
  const rest = new URLSearchParams();
  const used = new Set<string>();
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    used.add(name);
    return encodeURIComponent(String(given[name] ?? ""));
  });
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !used.has(name)) rest.set(name, String(value));
  }
  return rest.size === 0 ? filled : `${filled}?${rest}`;
}

async function call<Reply>(method: string, address: string, body?: unknown): Promise<Reply> {
  const response = await fetch(address, {
    method,
    credentials: "same-origin",
    headers: { "X-Overstory": pageKey() ?? "1", ...(method === "GET" ? {} : { "Content-Type": "application/json" }) },
    ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    const message =
      method === "GET" ? "Not connected" : "the connection broke before the answer; look whether it was done";
    throw new ApiError(0, { code: "offline", message });
  });
  const reply = await response.json().catch(() => undefined);
  if (response.ok) return reply as Reply;
  const told = reply?.error;
  throw new ApiError(response.status, {
    code: told?.code ?? "unknown",
    message: told?.message ?? `the server replied ${response.status} ${response.statusText}`,
    hint: told?.hint,
    details: told?.details,
  });
}

/** Exchanges the one-time code in the address for a session, and takes the code out of the address. */
export async function logIn(): Promise<void> {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  const { pageKey } = await change<{ readonly pageKey?: string }>("POST", "/api/login", {
    code: decodeURIComponent(code),
  });
  if (pageKey !== undefined) localStorage.setItem(keyName, pageKey);
}

const keyName = "overstory-page-key";

/** Half of the session. The cookie, which a browser sends to every port of this machine, is the other half. */
export const pageKey = (): string | null => localStorage.getItem(keyName);
