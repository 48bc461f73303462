import type { WebRole } from "../../domain/web/web-key.ts";

/** What a browser sends over the socket at `/ws`. */
export type ClientFrame =
  | { readonly op: "sub"; readonly id: string; readonly topic: string; readonly since?: number }
  | { readonly op: "unsub"; readonly id: string }
  | { readonly op: "ping" };

/** Marks an item of a list as removed. */
export interface GoneItem {
  readonly id: string | number;
  readonly gone: true;
}

/** A frame from the server to the browser. `id` is the id that the browser gave its subscription. */
export type ServerFrame =
  | {
      readonly v: 2;
      readonly op: "hello";
      readonly server: string;
      readonly epoch: string;
      readonly user: WebRole;
      readonly project: string;
    }
  | { readonly v: 2; readonly op: "snapshot"; readonly id: string; readonly seq: number; readonly data: unknown }
  | {
      readonly v: 2;
      readonly op: "delta";
      readonly id: string;
      readonly seq: number;
      readonly items: readonly unknown[];
    }
  | { readonly v: 2; readonly op: "gap"; readonly id: string }
  | { readonly v: 2; readonly op: "pong" }
  | { readonly v: 2; readonly op: "error"; readonly id: string; readonly code: string; readonly message: string };

/** The body of every error reply, at all addresses. */
export interface ErrorReply {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

/** `GET /api/me`. `epoch` changes when the engine begins to serve anew. */
export interface Me {
  readonly user: WebRole;
  readonly project: string;
  readonly epoch: string;
  readonly version: string;
}
