import { Failure } from "../../domain/failure.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, noFields, text, whole } from "../../domain/schema/schema.ts";
import type { WebListener } from "../../ports/store/web.ts";
import { silenceWords } from "../engine/engine-work.ts";
import type { Effect, World } from "../operation.ts";

export interface ServeRequest {
  readonly host: string;
  readonly port: number;
  readonly strictPort: boolean;
  /** The engine goes on serving after this process has ended. */
  readonly detach: boolean;
}

export interface ServeReply {
  readonly host: string;
  readonly port: number;
  /** The address without a code. */
  readonly url: string;
  /** Another command asked for it before. */
  readonly attached: boolean;
  readonly pid: number | null;
}

const startMs = 20_000;
const lookMs = 20;

/** Returns when the engine listens for browsers. */
export const serveWeb: Effect<ServeRequest, ServeReply> = {
  kind: "effect",
  request: fields({ host: text, port: whole, strictPort: flag, detach: flag }),
  place: "caller",
  operatorOnly: true,
  action: () => "serve the web page",
  run: async (world, { host, port, strictPort, detach }) => {
    const owner = detach ? null : (await world.processes()).self();
    const asked = await world.call("web.listen", { host, port, strictPort, owner });
    if (!asked.ok) return asked;
    const listener = await bound(world);
    if (!listener.ok) return listener;
    const { boundPort, host: at } = listener.value;
    const { contact } = await world.engineControl();
    const pid = contact.notice()?.pid ?? null;
    return ok({
      host: at,
      port: boundPort ?? 0,
      url: addressOf(at, boundPort ?? 0),
      attached: asked.value.attached,
      pid,
    });
  },
};

async function bound(world: World): Promise<Result<WebListener, Refusal>> {
  const control = await world.engineControl();
  const silent = await control.contact.ensure();
  if (silent !== undefined) world.warn(silenceWords(control));
  for (const until = performance.now() + startMs; performance.now() < until; ) {
    const read = await world.call("web.readListener", {});
    if (!read.ok) return read;
    const { listener } = read.value;
    if (listener?.problem != null) {
      await world.call("web.stopListening", {});
      return no({ kind: "busy", what: listener.problem });
    }
    if (listener?.boundPort != null && (await control.contact.answers())) return ok(listener);
    // The engine that was told may have been about to leave.
    if (control.contact.notice() === undefined && !control.keeperIsAlive()) await control.contact.ensure();
    await world.sleep(lookMs);
  }
  await world.call("web.stopListening", {});
  const problem = `it did not listen within ${startMs / 1000} s; see ${control.log.path}`;
  throw new Failure({ kind: "engine-unreachable", problem, next: "then try the same again: ov serve" });
}

/** The address that a browser is given. A server on every address of this machine is reached at the loopback one. */
/** Only programs of this machine reach such an address. */
export const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\./.test(host);

export function addressOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}/`;
}

/** Ends serving. Nothing is left to do afterwards, so the engine has to be told. */
export const stopServing: Effect<object, { readonly wasListening: boolean }> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  operatorOnly: true,
  action: () => "end serving the web page",
  run: async (world) => {
    const stopped = await world.call("web.stopListening", {});
    if (stopped.ok) await (await world.engineControl()).contact.wake();
    return stopped;
  },
};
