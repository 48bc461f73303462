import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { configFiles } from "../../src/config/sources.ts";
import { type BudgetSettings, budgetScopes, budgetUnits, noBudgets } from "../../src/domain/budget/budget.ts";
import { reserve } from "../../src/domain/budget/ledger.ts";

const every = budgetScopes.flatMap((scope) => budgetUnits.map((unit) => [scope, unit] as const));

async function budgetsOf(text: string): Promise<BudgetSettings> {
  const root = mkdtempSync(join(tmpdir(), "ov-budget-switch-"));
  try {
    mkdirSync(join(root, ".overstory"));
    writeFileSync(configFiles({ root, state: join(root, "state") }).project, text);
    return (await loadConfig(configFiles({ root, state: join(root, "state") }), {})).config.budgets;
  } finally {
    rmSync(root, { recursive: true });
  }
}

test.each(every)(
  "budgets.%s.%s keeps a turn from starting once it is spent, and nothing else does",
  async (scope, unit) => {
    const spent = 2_000_000_000;
    const ledgers = every.map(([each, of]) => ({
      scope: each,
      subject: "it",
      unit: of,
      given: null,
      raised: 0,
      spent,
      reserved: 0,
      unpriced: 0,
      warned: false,
      updatedAt: 1,
    }));
    const one = { usd: 1, tokens: 1, turns: 1, minutes: 1 };
    expect(reserve(noBudgets, ledgers, one).ok).toBe(true);
    expect(reserve(await budgetsOf(`budgets: {${scope}: {${unit}: 1}}\n`), ledgers, one)).toMatchObject({
      ok: false,
      refusal: { scope, unit },
    });
  },
);
