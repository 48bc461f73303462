/** The use cases about budgets, loaded when called. */
export const budgetUseCases = {
  "budget.show": async () => (await import("./show-budgets.ts")).showBudgets,
  "budget.raise": async () => (await import("./raise-budget.ts")).raiseBudget,
} as const;
