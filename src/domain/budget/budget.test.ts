import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  budgetScopes,
  budgetUnits,
  completeLedgers,
  dayOf,
  emptyLedger,
  endsAt,
  inWords,
  isWhole,
  kept,
  mostAmount,
  parseRef,
  refOf,
  shown,
  subjectsOf,
} from "./budget.ts";

const midnight = Date.UTC(2026, 0, 2);
const agent = { name: "ann", taskId: "t1", runId: "run-1" };

test("a turn is booked on its agent's name, its task, its run and the day in UTC", () => {
  expect(subjectsOf(agent, midnight)).toEqual([
    { scope: "agent", subject: "ann" },
    { scope: "task", subject: "t1" },
    { scope: "run", subject: "run-1" },
    { scope: "day", subject: "2026-01-02" },
  ]);
  expect(subjectsOf({ ...agent, taskId: null }, midnight).map(({ scope }) => scope)).toEqual(["agent", "run", "day"]);
});

test("a millisecond before midnight is still the day before, and only a day ends", () => {
  expect(dayOf(midnight - 1)).toBe("2026-01-01");
  expect(endsAt({ scope: "day", subject: "2026-01-01" })).toBe(midnight);
  expect(endsAt({ scope: "run", subject: "2026-01-01" })).toBeNull();
});

test("every moment lies in exactly the day that ends after it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (now) => {
      const ends = endsAt({ scope: "day", subject: dayOf(now) }) ?? 0;
      expect(ends).toBeGreaterThan(now);
      expect(ends - now).toBeLessThanOrEqual(86_400_000);
    }),
  );
});

test("a reference names one ledger, whatever its subject looks like", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...budgetScopes),
      fc.string(),
      fc.constantFrom(...budgetUnits),
      (scope, subject, unit) => {
        expect(parseRef(refOf({ scope, subject, unit }))).toEqual({ scope, subject, unit });
      },
    ),
  );
  for (const other of ["", "run", "run:usd", "run:r:cows", "herd:r:usd"]) expect(parseRef(other)).toBeUndefined();
});

test("untouched ledgers count as empty ones", () => {
  const known = { ...agentLedger, spent: 7 };
  const all = completeLedgers([{ scope: "agent", subject: "ann" }], [known]);
  expect(all.map(({ unit, spent }) => [unit, spent])).toEqual([
    ["usd", 0],
    ["tokens", 7],
    ["turns", 0],
    ["minutes", 0],
  ]);
});

const agentLedger = { ...emptyLedger({ scope: "agent", subject: "ann", unit: "tokens" }), updatedAt: 1 };

test("dollars are kept to the millionth, minutes to the millisecond, the rest whole", () => {
  expect(kept("usd", 0.1) + kept("usd", 0.2)).toBe(kept("usd", 0.3));
  expect(kept("usd", 0.000001)).toBe(1);
  expect(kept("minutes", 0.5)).toBe(30_000);
  expect(kept("tokens", 12)).toBe(12);
  expect(budgetUnits.filter(isWhole)).toEqual(["tokens", "turns"]);
});

test("an impossible amount counts as nothing", () => {
  for (const odd of [-1, Number.NaN, Number.POSITIVE_INFINITY, 0]) expect(kept("usd", odd)).toBe(0);
});

test("every amount a person may write comes back as written, and a hundred of the largest still add up", () => {
  fc.assert(
    fc.property(fc.constantFrom(...budgetUnits), fc.nat(1_000_000_000), (unit, hundredths) => {
      const amount = isWhole(unit) ? hundredths : hundredths / 100;
      expect(shown(unit, kept(unit, amount))).toBeCloseTo(amount, isWhole(unit) ? 0 : 4);
    }),
  );
  for (const unit of budgetUnits) expect(Number.isSafeInteger(kept(unit, mostAmount[unit]) * 100)).toBe(true);
});

test("an amount in words has its unit", () => {
  expect(inWords("usd", kept("usd", 1.5))).toBe("$1.50");
  expect(inWords("usd", kept("usd", 0.0042))).toBe("$0.0042");
  expect(inWords("usd", 0)).toBe("$0.00");
  expect(inWords("turns", 1)).toBe("1 turn");
  expect(inWords("minutes", kept("minutes", 2.5))).toBe("2.5 minutes");
});
