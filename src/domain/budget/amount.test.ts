import { expect, test } from "bun:test";
import fc from "fast-check";
import { inWords, isWhole, kept, mostAmount, shown } from "./amount.ts";
import { budgetUnits } from "./budget.ts";

test("dollars are kept to the millionth, minutes to the millisecond, the rest whole", () => {
  expect(kept("usd", 0.1) + kept("usd", 0.2)).toBe(kept("usd", 0.3));
  expect(kept("usd", 0.000001)).toBe(1);
  expect(kept("minutes", 0.5)).toBe(30_000);
  expect(kept("tokens", 12)).toBe(12);
  expect(budgetUnits.filter(isWhole)).toEqual(["tokens", "turns"]);
});

test("what no counter can mean counts as nothing", () => {
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
