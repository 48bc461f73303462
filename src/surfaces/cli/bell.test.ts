import { expect, test } from "bun:test";
import type { Event } from "../../domain/event/event.ts";
import { ok } from "../../domain/result.ts";
import type { App } from "./app.ts";
import { bellOf } from "./bell.ts";

const events = (...types: readonly string[]): readonly Event[] => types.map((type) => ({ type }) as Event);

async function rings(bell: boolean, isTTY: boolean): Promise<readonly string[]> {
  const written: string[] = [];
  const app = { call: async () => ok(bell) } as unknown as App;
  const ring = await bellOf(app, { isTTY: () => isTTY, write: (text) => written.push(text) });
  ring(events("mail_sent", "attention", "attention"));
  ring(events("mail_sent"));
  return written;
}

test("notify.bell rings a terminal that follows once for what is told together, and nothing else", async () => {
  expect(await rings(true, true)).toEqual(["\x07"]);
  expect(await rings(false, true)).toEqual([]);
  expect(await rings(true, false)).toEqual([]);
});
