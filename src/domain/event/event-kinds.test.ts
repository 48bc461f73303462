import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type EventFact, noticeKinds } from "./event.ts";
import { eventKinds, isKnownKind } from "./event-kinds.ts";

test("the compiler refuses a kind that is not in the table, and data that is not of its kind", () => {
  // `tsc` fails on a line below when it stops being an error.
  // @ts-expect-error: no such kind
  const unknown: EventFact = { type: "turn_begun", data: {} };
  // @ts-expect-error: the data of `released` has no such field
  const misnamed: EventFact = { type: "released", data: { reason: "r", generation: 1, branch: null, why: "" } };
  // @ts-expect-error: the data of `released` lacks its branch
  const lacking: EventFact = { type: "released", data: { reason: "r", generation: 1 } };
  expect([unknown.type, misnamed.type, lacking.type].map(isKnownKind)).toEqual([false, true, true]);
});

test("all events are written by `record`", () => {
  const writers = sources().filter(({ text }) => /\bevents\s*\.append\(/.test(text));
  expect(writers.map(({ path }) => path)).toEqual(["usecases/events/record.ts"]);
});

test("every kind of the table is written somewhere", () => {
  const writing = /\brecord(Merge)?\(|\bEventFact\b|satisfies Record<HookEvent, EventKind>|type HealthAction\b/;
  const text = sources()
    .filter((source) => !source.path.startsWith("domain/event/") && writing.test(source.text))
    .map((source) => source.text)
    .join("\n");
  // A kind of one word is also a word of other lists, such as the commands of the user.
  const isWritten = (kind: string): boolean =>
    new RegExp(kind.includes("_") ? `"${kind}"` : `\\btype: [^\\n]*"${kind}"`).test(text);
  expect(Object.keys(eventKinds).filter((kind) => !isWritten(kind))).toEqual([]);
});

test("every notice is guarded by `notice`, and every kind of notice is told somewhere", () => {
  const guards = sources().filter(({ text }) => /\bnotices\s*\.once\(/.test(text));
  expect(guards.map(({ path }) => path)).toEqual(["usecases/events/record.ts"]);
  const text = sources()
    .filter((source) => /\bnotice\(|type HealthAction\b/.test(source.text))
    .map((source) => source.text)
    .join("\n");
  const isTold = (kind: string): boolean => new RegExp(`\\b(kind|problem): [^\\n]*"${kind}"`).test(text);
  expect(noticeKinds.filter((kind) => !isTold(kind))).toEqual([]);
});

test("a kind of a newer version, and a word of the language, are not known", () => {
  expect(["tool_start", "quota_borrowed", "constructor", ""].map(isKnownKind)).toEqual([true, false, false, false]);
});

function sources(): readonly { readonly path: string; readonly text: string }[] {
  const root = join(import.meta.dir, "../..");
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" });
  return paths
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}
