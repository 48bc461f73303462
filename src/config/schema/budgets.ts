import { mostAmount, noBudgets } from "../../domain/budget/budget.ts";
import { integer, number } from "./key.ts";

const none = "0 sets no limit";

const usd = (whose: string) =>
  number({ doc: `US dollars ${whose} may cost; ${none}.`, default: 0, max: mostAmount.usd });
const tokens = (whose: string) =>
  integer({
    doc: `Tokens ${whose} may use, without those read from a cache; ${none}.`,
    default: 0,
    max: mostAmount.tokens,
  });
const turns = (whose: string) =>
  integer({ doc: `Turns ${whose} may have; ${none}.`, default: 0, max: mostAmount.turns });
const minutes = (whose: string) =>
  number({ doc: `Minutes of turns ${whose} may take; ${none}.`, default: 0, max: mostAmount.minutes });

const agent = "one agent, over all its reopenings,";
const task = "all work on one task";
const run = "one run";
const day = "one day (UTC)";

/** The limits at which turns stop. `ov budget raise` raises one for one subject. */
export const budgetKeys = {
  "budgets.agent.usd": usd(agent),
  "budgets.agent.tokens": tokens(agent),
  "budgets.agent.turns": turns(agent),
  "budgets.agent.minutes": minutes(agent),
  "budgets.task.usd": usd(task),
  "budgets.task.tokens": tokens(task),
  "budgets.task.turns": turns(task),
  "budgets.task.minutes": minutes(task),
  "budgets.run.usd": usd(run),
  "budgets.run.tokens": tokens(run),
  "budgets.run.turns": turns(run),
  "budgets.run.minutes": minutes(run),
  "budgets.day.usd": usd(day),
  "budgets.day.tokens": tokens(day),
  "budgets.day.turns": turns(day),
  "budgets.day.minutes": minutes(day),

  "budgets.estimate.usd": number({
    doc: "US dollars set aside for a turn while its agent's capability has not finished one.",
    default: noBudgets.estimate.usd,
    max: mostAmount.usd,
  }),
  "budgets.estimate.tokens": integer({
    doc: "Tokens set aside for a turn while its agent's capability has not finished one.",
    default: noBudgets.estimate.tokens,
    max: mostAmount.tokens,
  }),
  "budgets.estimate.minutes": number({
    doc: "Minutes set aside for a turn while its agent's capability has not finished one.",
    default: noBudgets.estimate.minutes,
    max: mostAmount.minutes,
  }),
};
