import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Amounts,
  type BudgetSettings,
  completeLedgers,
  emptyLedger,
  type Ledger,
  type LedgerChange,
  noBudgets,
  type Reservation,
  refOf,
  subjectsOf,
} from "./budget.ts";
import { hasRoom, held, isExhausted, limitOf, nothing, percentOf, reserve, settled, shouldWarn } from "./ledger.ts";

const run = { scope: "run", subject: "r1" } as const;
const turnsOfRun = (limit: number): BudgetSettings => ({ ...noBudgets, run: { ...noBudgets.run, turns: limit } });
const one: Amounts = { usd: 10, tokens: 10, turns: 1, minutes: 10 };
const ledger = (change: Partial<Ledger>): Ledger => ({
  ...emptyLedger({ ...run, unit: "turns" }),
  updatedAt: 1,
  ...change,
});

test("without a limit everything is set aside as expected", () => {
  const reserved = reserve(noBudgets, completeLedgers([run], []), one);
  expect(reserved).toMatchObject({ ok: true, value: [{ amount: 10 }, { amount: 10 }, { amount: 1 }, { amount: 10 }] });
});

test("the last turn of a limit may start, the one after it may not", () => {
  expect(reserve(turnsOfRun(3), [ledger({ spent: 2 })], one).ok).toBe(true);
  expect(reserve(turnsOfRun(3), [ledger({ spent: 3 })], one)).toEqual({
    ok: false,
    refusal: { ...run, unit: "turns", limit: 3, spent: 3, reserved: 0, wanted: 1 },
  });
  expect(reserve(turnsOfRun(3), [ledger({ spent: 3, raised: 1 })], one).ok).toBe(true);
});

test("what runs counts: turns at the same time cannot together go over", () => {
  expect(reserve(turnsOfRun(3), [ledger({ spent: 1, reserved: 1 })], one).ok).toBe(true);
  expect(reserve(turnsOfRun(3), [ledger({ spent: 1, reserved: 2 })], one).ok).toBe(false);
});

test("with nothing else running the rest of a budget is used up, however little it is", () => {
  const tokens = { ...noBudgets, run: { ...noBudgets.run, tokens: 25 } };
  const rest = ledger({ unit: "tokens", spent: 24 });
  expect(reserve(tokens, [rest], one)).toMatchObject({ ok: true, value: [{ amount: 1 }] });
  expect(reserve(tokens, [{ ...rest, spent: 20, reserved: 4 }], one).ok).toBe(false);
});

test("a ledger that needs a person is named before one that comes free by itself", () => {
  const both = { ...turnsOfRun(3), agent: { ...noBudgets.agent, turns: 2 } };
  const busy = ledger({ scope: "agent", subject: "ann", reserved: 2 });
  expect(reserve(both, [busy, ledger({ spent: 3 })], one)).toMatchObject({ refusal: { scope: "run" } });
  expect(reserve(both, [busy, ledger({})], one)).toMatchObject({ refusal: { scope: "agent" } });
});

test("a warning is due from four fifths on, once", () => {
  expect(shouldWarn(ledger({ spent: 79 }), 100)).toBe(false);
  expect(shouldWarn(ledger({ spent: 80 }), 100)).toBe(true);
  expect(shouldWarn(ledger({ spent: 200, warned: true }), 100)).toBe(false);
  expect(shouldWarn(ledger({ spent: 200 }), undefined)).toBe(false);
  expect([percentOf(799, 1000), percentOf(3, 2)]).toEqual([79, 150]);
});

/** Amounts as a runtime may report them, whatever was expected. */
const amounts = fc.record({ usd: fc.nat(50), tokens: fc.nat(50), turns: fc.constant(1), minutes: fc.nat(50) });
const limits = fc.record({ usd: fc.nat(2), tokens: fc.nat(60), turns: fc.nat(6), minutes: fc.nat(2) });
const settings = fc
  .record({ agent: limits, task: limits, run: limits, day: limits })
  .map((scopes): BudgetSettings => ({ ...scopes, estimate: noBudgets.estimate }));
const begun = fc.record({ agent: fc.constantFrom("ann", "bob"), estimate: amounts, actual: amounts, end: fc.nat(3) });

test("no history reserves beyond a limit, and settling everything leaves nothing set aside and the sum of all spending", () => {
  fc.assert(
    fc.property(settings, fc.array(begun, { maxLength: 25 }), (given, turns) => {
      const book = new Map<string, Ledger>();
      const running: { readonly reserved: readonly Omit<Reservation, "turnId">[]; readonly actual: Amounts }[] = [];
      const taken = { ann: 0, bob: 0 };
      for (const turn of turns) {
        const name = turn.agent === "ann" ? "ann" : "bob";
        const subjects = subjectsOf({ name, taskId: "t1", runId: "r1" }, 0);
        const ledgers = completeLedgers(subjects, [...book.values()]);
        const reserved = reserve(given, ledgers, turn.estimate);
        if (!reserved.ok) {
          const { limit, spent, reserved: set, wanted } = reserved.refusal;
          expect(isExhausted({ spent }, limit) || (set > 0 && spent + set + wanted > limit)).toBe(true);
        } else {
          apply(book, held(reserved.value));
          for (const key of reserved.value) expect(within(given, book.get(refOf(key)))).toBe(true);
          running.push({ reserved: reserved.value, actual: turn.actual });
          taken[name] += turn.actual.tokens;
        }
        const ended = turn.end === 0 ? running.shift() : undefined;
        if (ended !== undefined) apply(book, settled(ended.reserved, ended.actual));
      }
      for (const { reserved, actual } of running) apply(book, settled(reserved, actual));
      for (const each of book.values()) expect(each.reserved).toBe(0);
      for (const name of ["ann", "bob"] as const) {
        const key = refOf({ scope: "agent", subject: name, unit: "tokens" });
        expect(book.get(key)?.spent ?? 0).toBe(taken[name]);
      }
    }),
  );
});

test("the order in which turns settle does not matter", () => {
  const turn = fc.record({ estimate: amounts, actual: amounts, began: fc.constantFrom(0, 86_400_000) });
  const shuffled = fc
    .array(turn, { minLength: 2, maxLength: 8 })
    .chain((turns) => fc.tuple(fc.constant(turns), fc.shuffledSubarray(turns, { minLength: turns.length })));
  fc.assert(
    fc.property(shuffled, ([first, second]) => {
      const settledIn = (order: typeof first): unknown => {
        const book = new Map<string, Ledger>();
        const reservations = new Map(
          first.map((each) => {
            const subjects = subjectsOf({ name: "ann", taskId: null, runId: "r1" }, each.began);
            const reserved = reserve(noBudgets, completeLedgers(subjects, [...book.values()]), each.estimate);
            if (!reserved.ok) throw new Error("there is no limit");
            apply(book, held(reserved.value));
            return [each, reserved.value] as const;
          }),
        );
        for (const each of order) apply(book, settled(reservations.get(each) ?? [], each.actual));
        return [...book.values()].map(({ subject, unit, spent, reserved }) => [subject, unit, spent, reserved]);
      };
      expect(settledIn(second)).toEqual(settledIn(first));
    }),
  );
});

test("a turn that began before midnight is settled on the day it began, and the new day starts empty", () => {
  const book = new Map<string, Ledger>();
  const perDay = { ...noBudgets, day: { ...noBudgets.day, turns: 1 } };
  const midnight = Date.UTC(2026, 0, 2);
  const ask = (now: number) =>
    reserve(
      perDay,
      completeLedgers(subjectsOf({ name: "ann", taskId: null, runId: "r1" }, now), [...book.values()]),
      one,
    );
  const first = ask(midnight - 1);
  if (!first.ok) throw new Error("the first turn of the day was refused");
  apply(book, held(first.value));
  expect(ask(midnight - 1)).toMatchObject({ ok: false, refusal: { scope: "day", subject: "2026-01-01" } });
  expect(ask(midnight).ok).toBe(true);
  apply(book, settled(first.value, one));
  expect(book.get("day:2026-01-01:turns")).toMatchObject({ spent: 1, reserved: 0 });
  expect(book.get("day:2026-01-02:turns")).toBeUndefined();
});

test("a turn that never ran takes nothing", () => {
  const book = new Map<string, Ledger>();
  const reserved = reserve(noBudgets, completeLedgers([run], []), one);
  if (!reserved.ok) throw new Error("there is no limit");
  apply(book, held(reserved.value));
  expect(hasRoom(book.get("run:r1:turns") ?? ledger({}), 1)).toBe(false);
  apply(book, settled(reserved.value, nothing));
  for (const each of book.values()) expect(each).toMatchObject({ spent: 0, reserved: 0 });
});

function within(given: BudgetSettings, each: Ledger | undefined): boolean {
  const limit = each === undefined ? undefined : limitOf(given, each);
  return each !== undefined && (limit === undefined || each.spent + each.reserved <= limit);
}

function apply(book: Map<string, Ledger>, changes: readonly LedgerChange[]): void {
  for (const change of changes) {
    const before = book.get(refOf(change)) ?? ledger({ ...change, spent: 0, reserved: 0 });
    const spent = before.spent + change.spent;
    book.set(refOf(change), { ...before, spent, reserved: before.reserved + change.reserved });
  }
}
