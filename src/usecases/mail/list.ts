import type { Message } from "../../domain/mail/types.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, text, whole } from "../../domain/schema/schema.ts";
import type { MessageFilter } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { findMessage } from "./find-message.ts";
import { mayList, namesInSight } from "./in-sight.ts";
import { ownerOf } from "./owner.ts";
import { type MessageView, viewOf } from "./view.ts";
import { parseType } from "./words.ts";

export interface ListRequest {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly unread?: boolean | undefined;
  readonly type?: string | undefined;
  /** Id of a run. */
  readonly run?: string | undefined;
  /** Id of any message of the thread. */
  readonly thread?: string | undefined;
  readonly limit?: number | undefined;
}

export interface ListReply {
  readonly messages: readonly MessageView[];
  /** There are more than these. */
  readonly more: boolean;
}

/** More than a person reads and a script needs at once. */
const defaultLimit = 1_000;

/** Messages, newest first: of the whole project for a person, else those in the caller's sight. Looking changes nothing. */
export const listMail: UseCase<ListRequest, ListReply> = {
  kind: "read",
  request: fields({}, { from: text, to: text, unread: flag, type: text, run: text, thread: text, limit: whole }),
  guarded: true,
  run: async (tx, { caller }, request) => {
    const filter = await filterOf(tx, request);
    if (!filter.ok) return filter;
    const { from, to } = filter.value;
    const involving = await namesInSight(tx, caller);
    const allowed = mayList(
      caller,
      involving,
      [to, from].filter((name) => name !== undefined),
    );
    if (!allowed.ok) return allowed;
    const messages: MessageView[] = [];
    const shown = { ...filter.value, ...(involving === undefined ? {} : { involving }) };
    const limit = shown.limit ?? defaultLimit;
    const found = await tx.messages.list({ ...shown, limit: limit + 1 });
    for (const message of found.slice(0, limit)) messages.push(await seenBy(tx, message, to));
    return ok({ messages, more: found.length > limit });
  },
};

async function filterOf(tx: Tx, request: ListRequest): Promise<Result<MessageFilter, Refusal>> {
  const { from, to, unread, limit, run, thread } = request;
  const type = request.type === undefined ? undefined : parseType(request.type);
  if (type?.ok === false) return type;
  if (run !== undefined && (await tx.runs.get(run)) === undefined) {
    const runs = await tx.runs.list(100);
    return no(
      notFound(
        "run",
        run,
        nearest(
          run,
          runs.map(({ id }) => id),
        ),
      ),
    );
  }
  const inThread = thread === undefined ? undefined : await findMessage(tx, thread);
  if (inThread?.ok === false) return inThread;
  return ok({
    ...(from === undefined ? {} : { from: await ownerOf(tx, from) }),
    ...(to === undefined ? {} : { to: await ownerOf(tx, to) }),
    ...(type === undefined ? {} : { type: type.value }),
    ...(unread === true ? { unread } : {}),
    ...(run === undefined ? {} : { runId: run }),
    ...(inThread === undefined ? {} : { threadId: inThread.value.threadId }),
    ...(limit === undefined ? {} : { limit }),
  });
}

async function seenBy(tx: Tx, message: Message, to: string | undefined): Promise<MessageView> {
  if (to === undefined) return viewOf(message, await tx.deliveries.ofMessage(message.seq));
  const delivery = await tx.deliveries.get(message.seq, to);
  return viewOf(message, delivery === undefined ? [] : [delivery], to);
}
