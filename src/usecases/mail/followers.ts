import type { MailType, Message } from "../../domain/mail/types.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import type { Sender } from "./sender.ts";

export interface Announced {
  readonly payload: string | null;
  /** The tip of the branch that the payload names; null when there is no such branch, undefined without a look. */
  readonly head?: string | null | undefined;
}

/** What follows from mail of a type, in the transaction that stores it. */
export interface Follower {
  /** Why such mail would change nothing, so that it must wake no agent. */
  refuse(tx: Tx, context: Context, sender: Sender, announced: Announced): Promise<Refusal | undefined>;
  follow(tx: Tx, context: Context, sender: Sender, message: Message, head: Announced["head"]): Promise<void>;
}

const loaders: Partial<Record<MailType, () => Promise<Follower>>> = {
  merge_ready: async () => (await import("../merge/queue/enqueue-ready.ts")).mergeReady,
  decision_gate: async () => (await import("../operator/decisions.ts")).decisionGate,
};

const loaded = new Map<string, Follower>();

const isFollowed = (type: string): type is MailType => Object.hasOwn(loaders, type);

/**
 * Loads what follows from a type. To be called before the transaction, inside which nothing may be loaded; mail of most
 * types has no follower and pays nothing.
 */
export async function loadFollower(type: string | undefined): Promise<void> {
  if (type === undefined || loaded.has(type) || !isFollowed(type)) return;
  const follower = await loaders[type]?.();
  if (follower !== undefined) loaded.set(type, follower);
}

export function followerOf(type: MailType): Follower | undefined {
  const follower = loaded.get(type);
  if (follower === undefined && isFollowed(type)) throw new Error(`what follows from ${type} was not loaded`);
  return follower;
}
