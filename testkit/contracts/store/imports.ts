import { expect } from "bun:test";
import type { Check } from "./database.ts";
import { noon } from "./rows.ts";

export function importPromises(check: Check): void {
  check("each part of an earlier project has one record, which the next look replaces", async ({ store }) => {
    const mail = { source: "mail.db messages", place: 500, taken: 499, updatedAt: noon };
    const runs = { source: "sessions.db runs", place: 2, taken: 2, updatedAt: noon };
    await store.transaction(async (tx) => {
      expect(await tx.imports.get(mail.source)).toBeUndefined();
      await tx.imports.put(runs);
      await tx.imports.put(mail);
      await tx.imports.put({ ...mail, place: 700, taken: 698 });
    });
    expect(await store.read((tx) => tx.imports.get(mail.source))).toEqual({ ...mail, place: 700, taken: 698 });
    expect((await store.read((tx) => tx.imports.list())).map(({ source }) => source)).toEqual([
      mail.source,
      runs.source,
    ]);
  });
}
