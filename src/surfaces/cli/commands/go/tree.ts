import type { Command } from "../../command.ts";

/** `ov go`: from an objective to a team at work. */
export const goCommand: Command = {
  name: "go",
  summary: "Give an objective to a team: set up if needed, confirm, start",
  details:
    "Shows limits, budget, gates and what the adviser thinks, asks, and starts a coordinator with a run of its own. " +
    "Before it asks, it runs the gates on the target as it is: a gate that fails there proves nothing about the team's " +
    "work. With --yes it goes on all the same where the work stays on a branch of its own until you promote it, and " +
    "otherwise starts nothing and exits 5. " +
    "Limits and gates given here are kept in the project's local configuration; the budget belongs to the run it starts. Your checkout is never touched: " +
    "what lands goes to the target branch only while it is checked out nowhere, otherwise to a branch that you take over " +
    "with ov merge promote.",
  group: "Operate",
  arguments: [{ name: "objective", summary: "What is wanted, in your words", required: true }],
  flags: [
    {
      name: "target",
      value: "branch",
      complete: "branches",
      summary: "Branch the work is meant for (default: the one checked out)",
    },
    {
      name: "gate",
      value: "command",
      type: "texts",
      summary: "One shell command that must pass before anything lands",
    },
    {
      name: "check-gates",
      negatable: true,
      summary: "Run the gates on the target first (default); --no-check-gates starts without",
    },
    { name: "land-unverified", summary: "Let branches land that no gate has checked" },
    { name: "runtime", value: "name", summary: "Agent CLI to run" },
    { name: "model", value: "name", summary: "Model to ask the runtime for" },
    { name: "max-agents", value: "n", type: "integer", min: 1, summary: "Agents the run may have in all" },
    {
      name: "budget-usd",
      value: "usd",
      summary: "US dollars this run may cost (default: budgets.run.usd)",
    },
    { name: "name", value: "name", summary: 'Name of the coordinator (default: "coordinator")' },
    { name: "attach", negatable: true, summary: "Follow its output until Ctrl-C" },
  ],
  examples: [
    { line: 'ov go "Move the parser to the new grammar" --gate "npm test"', does: "asks, then a team begins" },
    { line: 'ov go "Fix the flaky tests" --budget-usd 5 --yes', does: "begins without asking, within five dollars" },
  ],
  run: async () => (await import("../go.ts")).go,
};
