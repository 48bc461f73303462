import type { ProcessIdentity } from "../../domain/process/process.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, noFields, orNull, text, whole } from "../../domain/schema/schema.ts";
import type { WebListener } from "../../ports/store/web.ts";
import type { UseCase } from "../usecase.ts";

export interface ListenRequest {
  readonly host: string;
  readonly port: number;
  readonly strictPort: boolean;
  readonly owner: ProcessIdentity | null;
}

export interface ListenReply {
  readonly listener: WebListener;
  /** Browsers were served already. The earlier wish stays as it is. */
  readonly attached: boolean;
}

const identity = fields<ProcessIdentity>({ pid: whole, startToken: text, bootId: text });

/** Asks the engine to listen for browsers. Where it listens already, it goes on as before. */
export const askToListen: UseCase<ListenRequest, ListenReply> = {
  kind: "write",
  request: fields({ host: text, port: whole, strictPort: flag, owner: orNull(identity) }),
  operatorOnly: true,
  run: async (tx, { now }, { host, port, strictPort, owner }) => {
    if (port < 0 || port > 65_535) return no(invalid("port", "must be a number from 1 to 65535", { value: `${port}` }));
    const earlier = await tx.web.listener();
    if (earlier !== undefined && earlier.problem === null && earlier.boundPort !== null) {
      // Without an owner it serves for longer than this caller would.
      const stays = earlier.owner === null || owner !== null ? earlier : { ...earlier, owner: null };
      await tx.web.setListener(stays);
      return ok({ listener: stays, attached: true });
    }
    const listener = { host, port, strictPort, owner, boundPort: null, problem: null, askedAt: now };
    await tx.web.setListener(listener);
    return ok({ listener, attached: false });
  },
};

/** Asks the engine to stop listening. */
export const stopListening: UseCase<object, { readonly wasListening: boolean }> = {
  kind: "write",
  request: noFields,
  operatorOnly: true,
  run: async (tx) => {
    const wasListening = (await tx.web.listener()) !== undefined;
    await tx.web.dropListener();
    return ok({ wasListening });
  },
};

/** The wish that the engine listens, and how far it has come. */
export const readListener: UseCase<object, { readonly listener: WebListener | null }> = {
  kind: "read",
  request: noFields,
  startsNoEngine: true,
  run: async (tx) => ok({ listener: (await tx.web.listener()) ?? null }),
};

export interface BoundRequest {
  readonly boundPort: number | null;
  readonly problem: string | null;
}

/** The engine tells where it listens, or why it cannot. */
export const recordListening: UseCase<BoundRequest, object> = {
  kind: "write",
  request: fields({ boundPort: orNull(whole), problem: orNull(text) }),
  operatorOnly: true,
  run: async (tx, _context, bound) => {
    const listener = await tx.web.listener();
    if (listener !== undefined) await tx.web.setListener({ ...listener, ...bound });
    return ok({});
  },
};
