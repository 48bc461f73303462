import { expect, test } from "bun:test";
import fc from "fast-check";
import { formatSeeds, mergeSeeds, type OwnFields, parseSeeds, type SeedsRecord } from "./seeds.ts";
import { mergeStates, taskStatuses, taskTypes } from "./task.ts";

const line = (fields: object): string => JSON.stringify({ id: "app-1", title: "T", status: "open", ...fields });

const words = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 3 });
const optionalText = fc.option(fc.string({ minLength: 1 }), { nil: null });
const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const own: fc.Arbitrary<OwnFields> = fc.record({
  mergeState: fc.constantFrom(...mergeStates),
  claimedBy: optionalText,
  claimExpires: fc.option(time, { nil: null }),
  parentId: optionalText,
  files: words,
  shares: words,
});
const record: fc.Arbitrary<SeedsRecord> = fc
  .record({
    id: fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/),
    title: fc.string({ minLength: 1 }),
    status: fc.constantFrom(...taskStatuses),
    type: fc.constantFrom(...taskTypes),
    priority: fc.integer({ min: 0, max: 4 }),
    createdAt: time,
    updatedAt: time,
    closedAt: time,
    closeReason: optionalText,
    description: optionalText,
    assignee: optionalText,
    labels: words,
    blocks: words,
    blockedBy: words,
    own: fc.option(own, { nil: null }),
    extra: fc.dictionary(fc.stringMatching(/^x[a-z]{1,5}$/), fc.jsonValue()),
  })
  .map((made): SeedsRecord => {
    const closed = made.status === "closed";
    const free = made.own === null ? null : { ...made.own, claimedBy: null, claimExpires: null };
    return closed ? { ...made, own: free } : { ...made, closedAt: null, closeReason: null };
  });
const records = fc.uniqueArray(record, { selector: ({ id }) => id, maxLength: 8 });
const byId = (a: SeedsRecord, b: SeedsRecord): number => (a.id < b.id ? -1 : 1);

test("what is written is read back the same, unknown fields included", () => {
  fc.assert(
    fc.property(records, (made) => {
      const { records: read, problems } = parseSeeds(formatSeeds(made));
      expect(problems).toEqual([]);
      // Through JSON, because the arbitrary text may hold -0, which no file can.
      expect(JSON.parse(JSON.stringify([...read].sort(byId)))).toEqual(
        JSON.parse(JSON.stringify([...made].sort(byId))),
      );
    }),
  );
}, 60_000);

test("a record is one line that no terminal obeys, and still reads back the same", () => {
  const title = "a\nb\u001b\u009b2J\u2028\u202ec";
  const text = formatSeeds([simple("app-1", { title })]);
  expect(text).toMatch(/^[ -~]+\n$/);
  expect(parseSeeds(text).records[0]?.title).toBe(title);
});

test("the text depends on the records alone, not on their order", () => {
  fc.assert(fc.property(records, (made) => formatSeeds(made) === formatSeeds([...made].reverse())));
}, 60_000);

test("a line needs only id and title; the rest has defaults", () => {
  const { records: read } = parseSeeds('{"id":"app-1","title":"T"}');
  expect(read).toMatchObject([{ id: "app-1", status: "open", type: "task", priority: 2, labels: [], own: null }]);
});

test("of several lines for one id the latest by time wins, and the last one when they are equal", () => {
  const at = (title: string, updatedAt: string): string => line({ title, updatedAt });
  const old = at("old", "2026-01-01T00:00:00.000Z");
  const late = at("late", "2026-01-02T00:00:00.000Z");
  const last = at("last", "2026-01-02T00:00:00.000Z");
  for (const text of [`${old}\n${late}\n${last}`, `${late}\n${last}\n${old}`]) {
    expect(parseSeeds(text).records.map(({ title }) => title)).toEqual(["last"]);
  }
});

test.each([
  ["<<<<<<< HEAD", 'is not valid JSON: "<" stands at column 1, where a value should be'],
  ["[1]", "is not a JSON object"],
  [line({ id: "../up" }), "has no usable id"],
  [line({ title: "" }), "has no title"],
  [line({ title: 5 }), "must have a text as title"],
  [line({ status: "done" }), "must have one of open, in_progress, in_review, blocked, closed as status"],
  [line({ type: "chore" }), "must have one of task, bug, feature, epic as type"],
  [line({ priority: "high" }), "must have a whole number from 0 to 4 as priority"],
  [line({ updatedAt: "yesterday" }), "must have a time as updatedAt"],
  [line({ blockedBy: "app-2" }), "must have a list of texts as blockedBy"],
])("the line %p is reported with its number", (bad, problem) => {
  expect(parseSeeds(`${line({})}\n\n${bad}\n`).problems).toEqual([{ line: 3, problem }]);
});

const simple = (id: string, facts: Partial<SeedsRecord> = {}): SeedsRecord => {
  const [made] = parseSeeds(line({ id, createdAt: "2026-01-01T00:00:00Z" })).records;
  if (made === undefined) throw new Error("the sample line is wrong");
  return { ...made, ...facts };
};

test("an export keeps lines that are newer or unknown here, and unknown fields of the ones it replaces", () => {
  const merged = mergeSeeds(
    [simple("ours", { title: "new", updatedAt: 20 }), simple("stale", { title: "old", updatedAt: 5 })],
    [
      simple("ours", { title: "old", updatedAt: 10, extra: { estimate: 3 } }),
      simple("stale", { title: "newer", updatedAt: 6 }),
      simple("theirs", { title: "not imported yet" }),
    ],
  );
  expect(merged.map(({ id, title, extra }) => ({ id, title, extra }))).toEqual([
    { id: "ours", title: "new", extra: { estimate: 3 } },
    { id: "stale", title: "newer", extra: {} },
    { id: "theirs", title: "not imported yet", extra: {} },
  ]);
});
