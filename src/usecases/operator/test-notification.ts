import { notificationOf } from "../../domain/notification/notification.ts";
import { ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";

export interface NotifyTest {
  /** `problem`: what went wrong; null when the notification was handed over. */
  readonly results: readonly { readonly channel: string; readonly problem: string | null }[];
  readonly unavailable: readonly string[];
  readonly bell: boolean;
}

/** Sends a notification of the same form as a real one by every channel that is configured. Stores nothing. */
export const testNotification: Effect<object, NotifyTest> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  operatorOnly: true,
  action: () => "send notifications",
  run: async (world) => {
    const [{ channels, unavailable, bell }, { project }] = await Promise.all([
      world.notifyChannels(),
      world.settings(),
    ]);
    const subject = "this is a test; nothing waits for you";
    const item = { id: "test", kind: "question", from: "operator", subject, runId: null } as const;
    const notification = notificationOf(project.name, [item]);
    const stop = new AbortController().signal;
    const results = await Promise.all(
      channels.map(async (channel) => ({
        channel: channel.name,
        problem: (await channel.send(notification, stop)) ?? null,
      })),
    );
    return ok({ results, unavailable, bell });
  },
};
