import { budgetScopes, budgetUnits } from "../../../../domain/budget/budget.ts";
import type { Command } from "../../command.ts";

/** `ov budget`: what may be spent, what was, and who waits for more. */
export const budgetCommand: Command = {
  name: "budget",
  summary: "Show what was spent of which limit, and give more",
  group: "Runs",
  run: async () => (await import("../budget.ts")).show,
  commands: [
    {
      name: "show",
      summary: "Show every ledger: limit, spent, set aside for running turns, agents that wait",
      run: async () => (await import("../budget.ts")).show,
    },
    {
      name: "raise",
      summary: "Add to a limit; agents parked for want of it go on",
      details: "Limits are set for all with ov config set budgets.<scope>.<unit>; this adds to one subject's.",
      arguments: [
        { name: "scope", summary: "What the limit is for", required: true, choices: budgetScopes },
        {
          name: "subject",
          summary: "Name of the agent, id of the task or run, or a day (2026-01-31, today)",
          required: true,
        },
        { name: "unit", summary: "What is limited", required: true, choices: budgetUnits },
        { name: "amount", summary: "How much more; dollars and minutes may have decimals", required: true },
      ],
      examples: [
        { line: "ov budget raise agent builder-1 usd 2.50", does: "lets builder-1 spend 2.50 dollars more" },
        { line: "ov budget raise day today tokens 1000000", does: "gives today a million tokens more" },
      ],
      run: async () => (await import("../budget.ts")).raise,
    },
  ],
};
