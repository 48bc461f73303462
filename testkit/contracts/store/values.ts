import { expect } from "bun:test";
import fc from "fast-check";
import type { Check } from "./database.ts";
import { aMessage, aRun, aTask, noon } from "./rows.ts";

/** Well-formed text of any script; U+0000 is the one character a database may replace. */
const anyText = fc.string({ unit: "grapheme", maxLength: 60 }).filter((text) => !text.includes("\0"));

export function valuePromises(check: Check): void {
  check("any text comes back as it went in", async ({ store }) => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (subject, body) => {
        const id = `m${++count}`;
        await store.transaction(async (tx) => {
          await tx.messages.insert(aMessage(id, { subject, body }));
          expect(await tx.messages.get(id)).toMatchObject({ subject, body });
          expect((await tx.messages.duplicate(aMessage(id, { subject, body }), 0))?.body).toBe(body);
        });
      }),
      { numRuns: 40 },
    );
  });

  check("quotes, question marks, placeholders and emoji are text like any other", async ({ store }) => {
    const awkward = ["it's \"?\" $1 \\ ? ''", "?", "", "👩‍👩‍👧‍👦 é ﷽ \u202e", "a\nb\r\n\tc", "'); DROP TABLE runs; --"];
    await store.transaction(async (tx) => {
      for (const [index, objective] of awkward.entries()) {
        await tx.runs.insert(aRun(`r${index}`, { objective }));
        expect((await tx.runs.get(`r${index}`))?.objective).toBe(objective);
      }
      await tx.tasks.insert(aTask("T1", { labels: awkward }));
      expect((await tx.tasks.get("T1"))?.labels).toEqual(awkward);
    });
  });

  check("a text of four megabytes comes back whole", async ({ store }) => {
    const body = "0123456789é😀".repeat(300_000);
    await store.transaction((tx) => tx.messages.insert(aMessage("m1", { body })));
    const stored = await store.read((tx) => tx.messages.get("m1"));
    expect(stored?.body === body).toBe(true);
  });

  check("whole numbers come back as numbers up to the largest exact one", async ({ store }) => {
    const numbers = [0, 1, -1, 2 ** 31, 2 ** 32 + 1, noon, 8_640_000_000_000_000, Number.MAX_SAFE_INTEGER];
    await store.transaction(async (tx) => {
      for (const [index, startedAt] of numbers.entries()) await tx.runs.insert(aRun(`r${index}`, { startedAt }));
      for (const [index, startedAt] of numbers.entries())
        expect((await tx.runs.get(`r${index}`))?.startedAt).toBe(startedAt);
    });
  });

  check("nothing stays nothing: null is neither an empty text nor zero", async ({ store }) => {
    const bare = { objective: null, targetBranch: null, landingBranch: null, coordinatorName: null, completedAt: null };
    await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("none", bare));
      await tx.runs.insert(aRun("empty", { ...bare, objective: "", completedAt: 0 }));
      expect(await tx.runs.get("none")).toEqual(aRun("none", bare));
      expect(await tx.runs.get("empty")).toMatchObject({ objective: "", completedAt: 0 });
    });
  });
}
