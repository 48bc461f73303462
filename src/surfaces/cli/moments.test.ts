import { afterEach, expect, test } from "bun:test";
import { momentGiven, momentOf } from "./moments.ts";

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});
const inZone = <T>(name: string, work: () => T): T => {
  process.env.TZ = name;
  return work();
};
const iso = (typed: string, now: number, end = false): string =>
  new Date(momentOf(typed, now, { end }) ?? 0).toISOString();

test("a moment may be so long ago, a time of today, a day or an ISO time, by the clock on the reader's wall", () => {
  const now = Date.UTC(2026, 10, 14, 20, 0, 0);
  expect(iso("10s", now)).toBe("2026-11-14T19:59:50.000Z");
  expect(iso("30m", now)).toBe("2026-11-14T19:30:00.000Z");
  expect(iso("1h", now)).toBe("2026-11-14T19:00:00.000Z");
  expect(iso("2d", now)).toBe("2026-11-12T20:00:00.000Z");
  for (const [name, day, hour] of [
    ["America/Los_Angeles", "2026-11-14T08:00:00.000Z", "2026-11-14T17:30:00.000Z"],
    // In Kolkata it is the next day already.
    ["Asia/Kolkata", "2026-11-13T18:30:00.000Z", "2026-11-15T04:00:00.000Z"],
  ] as const) {
    inZone(name, () => {
      expect(iso("2026-11-14", now)).toBe(day);
      expect(iso("2026-11-14", now, true)).toBe(new Date(Date.parse(day) + 86_400_000 - 1).toISOString());
      expect(iso("09:30", now)).toBe(hour);
      expect(iso("2026-11-14T00:00", now)).toBe(day);
      expect(iso("2026-11-14T00:00:00Z", now)).toBe("2026-11-14T00:00:00.000Z");
      expect(iso("2026-11-14 00:00:00.5+05:30", now)).toBe("2026-11-13T18:30:00.500Z");
    });
  }
});

test("what is no moment is refused with the flag that it was given to", () => {
  for (const wrong of [
    "",
    "soon",
    "10",
    "10w",
    "2026-13-01",
    "2026-02-30",
    "24:00",
    "09:60",
    "1e3s",
    "2026-11-14T99:00",
  ]) {
    expect([wrong, momentGiven("until", wrong, 0)]).toMatchObject([
      wrong,
      { ok: false, refusal: { kind: "invalid", field: "until" } },
    ]);
  }
  expect(momentGiven("since", undefined, 0)).toEqual({ ok: true, value: undefined });
});
