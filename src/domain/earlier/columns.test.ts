import { expect, test } from "bun:test";
import { converted, countIn, timeOf } from "./columns.ts";

test("a time without a zone is UTC, whatever the zone of the reader", () => {
  const at = Date.UTC(2026, 9, 1, 10, 3, 0, 5);
  for (const written of ["2026-10-01T10:03:00.005", "2026-10-01 10:03:00.005", "2026-10-01T10:03:00.005Z"]) {
    expect([written, timeOf({ at: written }, "at")]).toEqual([written, at]);
  }
  expect(timeOf({ at: "2026-10-01T12:03:00.005+02:00" }, "at")).toBe(at);
});

test("a column that holds something else is a problem in words", () => {
  expect(converted(() => timeOf({ at: "soon" }, "at"))).toEqual({ ok: false, refusal: 'has no time as at: "soon"' });
  expect(converted(() => timeOf({}, "at"))).toEqual({ ok: false, refusal: "has no at" });
  expect(converted(() => countIn({ n: -1 }, "n"))).toEqual({ ok: false, refusal: "has no whole number as n" });
  expect(converted(() => countIn({ n: null }, "n"))).toEqual({ ok: true, value: 0 });
});
