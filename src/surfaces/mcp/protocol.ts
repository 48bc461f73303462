import { hasTooManyValues } from "../../domain/text/json-values.ts";

/**
 * The part of the Model Context Protocol that a server with nothing but tools needs: JSON-RPC 2.0 with `initialize`,
 * `ping`, `tools/list`, `tools/call`, and the notifications `cancelled` and `progress`.
 */
export const protocolVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** What a client asks for if we know it, else the newest we know: the client decides whether it can live with that. */
export function negotiate(asked: unknown): string {
  return protocolVersions.find((version) => version === asked) ?? protocolVersions[0];
}

export const errorCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
  /** Ours: the caller may not be here. */
  refused: -32_003,
} as const;

export type RequestId = string | number;
export type Params = Readonly<Record<string, unknown>>;

export type Incoming =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: Params }
  | { readonly kind: "notification"; readonly method: string; readonly params: Params }
  /** An answer to something we never asked, or no message at all. */
  | { readonly kind: "answer" }
  | { readonly kind: "invalid"; readonly id: RequestId | null; readonly code: number; readonly problem: string };

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type Outgoing =
  | { readonly jsonrpc: "2.0"; readonly id: RequestId | null; readonly result: object }
  | { readonly jsonrpc: "2.0"; readonly id: RequestId | null; readonly error: RpcError }
  | { readonly jsonrpc: "2.0"; readonly method: string; readonly params: object };

/** One message as text. */
export function parseMessage(text: string): Incoming {
  if (hasTooManyValues(text)) {
    return { kind: "invalid", id: null, code: errorCodes.invalidRequest, problem: "more values than any request has" };
  }
  try {
    return readMessage(JSON.parse(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: "invalid", id: null, code: errorCodes.parse, problem: "not JSON" };
  }
}

export function readMessage(value: unknown): Incoming {
  if (!isParams(value) || value.jsonrpc !== "2.0") {
    return { kind: "invalid", id: null, code: errorCodes.invalidRequest, problem: "not one JSON-RPC 2.0 message" };
  }
  const id = typeof value.id === "string" || typeof value.id === "number" ? value.id : undefined;
  if (typeof value.method !== "string") {
    if (id !== undefined && ("result" in value || "error" in value)) return { kind: "answer" };
    return { kind: "invalid", id: id ?? null, code: errorCodes.invalidRequest, problem: "a message needs a method" };
  }
  const params = isParams(value.params) ? value.params : {};
  return id === undefined
    ? { kind: "notification", method: value.method, params }
    : { kind: "request", id, method: value.method, params };
}

export const answered = (id: RequestId | null, result: object): Outgoing => ({ jsonrpc: "2.0", id, result });

export const failed = (id: RequestId | null, error: RpcError): Outgoing => ({ jsonrpc: "2.0", id, error });

export const isParams = (value: unknown): value is Params =>
  typeof value === "object" && value !== null && !Array.isArray(value);
