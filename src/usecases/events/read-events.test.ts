import { expect, test } from "bun:test";
import { ok } from "../../domain/result.ts";
import type { World } from "../operation.ts";
import { type EventsAfterRequest, followEvents } from "./read-events.ts";

test("a follower that has fallen behind reads on at once, and rests only when it has caught up", async () => {
  const did: string[] = [];
  const over = new AbortController();
  const last = 1_200;
  const world = {
    until: async (ask: () => Promise<unknown>) => {
      for (;;) {
        const answer = await ask();
        if (answer !== undefined) return answer;
      }
    },
    call: async (_name: string, { after }: EventsAfterRequest) => {
      const events = Array.from({ length: Math.min(500, last - after) }, (_, n) => ({ seq: after + n + 1 }));
      if (events.length === 0) over.abort();
      return ok({ events, cursor: after + events.length });
    },
    sleep: async () => void did.push("rests"),
  } as unknown as World;
  const listener = { onItem: (events: readonly object[]) => void did.push(`${events.length}`), signal: over.signal };
  await followEvents.run(world, { after: 0, intervalMs: 1_000 }, listener);
  expect(did).toEqual(["500", "500", "200", "rests"]);
});
