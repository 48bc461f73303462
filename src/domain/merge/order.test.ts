import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anEntry } from "../../../testkit/contracts/store/merges.ts";
import { type MergeEntry, mergeStatuses } from "./entry.ts";
import { ageStepMs, isReady, landingOrder, type ReadyTerms, urgencyOf } from "./order.ts";

const now = 10 * ageStepMs;
const terms: ReadyTerms = { now, approvals: ["parent", "operator"], settled: new Set() };
const entry = (id: number, change: Partial<MergeEntry> = {}): MergeEntry => ({
  ...anEntry(`b${id}`, { enqueuedAt: now }),
  id,
  ...change,
});
const order = (entries: readonly MergeEntry[], more: Partial<ReadyTerms> = {}) =>
  landingOrder(entries, { ...terms, ...more }).map(({ id }) => id);

describe("readiness", () => {
  test("work begins on what is pending or blocked, approved, due and without an open dependency", () => {
    expect(isReady(entry(1), terms)).toBe(true);
    expect(isReady(entry(1, { status: "blocked", notBefore: now }), terms)).toBe(true);
    expect(isReady(entry(1, { notBefore: now + 1 }), terms)).toBe(false);
    expect(isReady(entry(1, { approval: "waiting" }), terms)).toBe(false);
    expect(isReady(entry(1, { approval: "denied" }), terms)).toBe(false);
    expect(isReady(entry(1, { dependsOn: [7] }), terms)).toBe(false);
    expect(isReady(entry(1, { dependsOn: [7] }), { ...terms, settled: new Set([7]) })).toBe(true);
    const others = mergeStatuses.filter((status) => status !== "pending" && status !== "blocked");
    expect(others.filter((status) => isReady(entry(1, { status }), terms))).toEqual([]);
  });
});

describe("the order of landing", () => {
  test("the more urgent goes first, then the lower number", () => {
    expect(order([entry(3, { priority: 2 }), entry(2, { priority: 2 }), entry(1, { priority: 3 })])).toEqual([2, 3, 1]);
  });

  test("half an hour of waiting is worth one step of urgency", () => {
    const waited = (steps: number) => entry(2, { priority: 3, enqueuedAt: now - steps * ageStepMs });
    expect(order([entry(1, { priority: 2 }), waited(1)])).toEqual([1, 2]);
    expect(order([entry(1, { priority: 2 }), waited(2)])).toEqual([2, 1]);
  });

  test("of equally urgent ones, who shares files with those ahead goes later", () => {
    const first = entry(1, { filesModified: ["a.ts", "b.ts"] });
    const shares = entry(2, { filesModified: ["b.ts"] });
    const apart = entry(3, { filesModified: ["c.ts"] });
    expect(order([first, shares, apart])).toEqual([1, 3, 2]);
    expect(order([first, { ...shares, priority: 1 }, apart])).toEqual([2, 3, 1]);
  });
});

const entries = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 1, max: 40 }),
    priority: fc.integer({ min: 0, max: 4 }),
    enqueuedAt: fc.integer({ min: 0, max: now + ageStepMs }),
    notBefore: fc.integer({ min: 0, max: 2 * now }),
    status: fc.constantFrom(...mergeStatuses),
    approval: fc.constantFrom("waiting", "parent", "operator", "denied"),
    dependsOn: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }),
    filesModified: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { maxLength: 4 }),
  }),
  { selector: ({ id }) => id, maxLength: 20 },
);

describe("for any queue", () => {
  test("the order is the same however the queue is read, holds what is ready and nothing else, by urgency", () => {
    fc.assert(
      fc.property(entries, fc.func(fc.integer()), (made, shuffle) => {
        const queue = made.map(({ id, ...change }) => entry(id, change));
        const settled = new Set(queue.filter(({ status }) => status === "merged").map(({ id }) => id));
        const ordered = landingOrder(queue, { ...terms, settled });
        const shuffled = queue.toSorted((a, b) => shuffle(a.id) - shuffle(b.id));
        expect(landingOrder(shuffled, { ...terms, settled })).toEqual(ordered);
        const ready = queue.filter((each) => isReady(each, { ...terms, settled }));
        expect(ordered.map(({ id }) => id).toSorted()).toEqual(ready.map(({ id }) => id).toSorted());
        const urgencies = ordered.map((each) => urgencyOf(each, now));
        expect(urgencies).toEqual(urgencies.toSorted((a, b) => a - b));
        for (const { dependsOn } of ordered) expect(dependsOn.every((id) => settled.has(id))).toBe(true);
      }),
    );
  });

  test("nothing starves: however many urgent ones keep coming, the least urgent lands within its age's worth", () => {
    const minute = 60_000;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 3 }), (priority, perMinute) => {
        const patient = entry(1, { priority, enqueuedAt: 0 });
        let queue: MergeEntry[] = [patient];
        let id = 2;
        // One lands each minute, and at least one more urgent comes.
        for (let time = 0; ; time += minute) {
          const [next] = landingOrder(queue, { ...terms, now: time });
          if (next?.id === patient.id) break;
          expect(time).toBeLessThanOrEqual((priority + 1) * ageStepMs * (perMinute + 1));
          queue = queue.filter((each) => each !== next);
          for (let i = 0; i < perMinute; i++) queue.push(entry(id++, { priority: 0, enqueuedAt: time }));
        }
      }),
      { numRuns: 15 },
    );
  });
});
