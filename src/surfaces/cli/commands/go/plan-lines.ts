import type { Advice } from "../../../../domain/coordination/advice.ts";
import { adviceLines } from "../../../../domain/coordination/advice-text.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Paint } from "../../command.ts";
import { hintLine, warningLine } from "../../marks.ts";
import type { Terms } from "./terms.ts";

export interface GoPlan {
  readonly objective: string;
  readonly terms: Terms;
  readonly advice: Advice;
  /** Where the work is meant to go. */
  readonly target: string | undefined;
  /** The target is the branch that is checked out here. */
  readonly targetIsYours: boolean;
  readonly runtime: string;
}

/** What a person should know before they say yes. */
export function planLines(paint: Paint, plan: GoPlan): readonly string[] {
  const { objective, terms, advice, runtime } = plan;
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(9))} ${visibleLine(value)}`;
  const all = terms.maxAgents === 0 ? "any number in all" : `${terms.maxAgents} in all`;
  return [
    fact("objective", objective),
    fact("runtime", runtime),
    fact("agents", `${terms.maxConcurrent} turns at once, ${all}, ${terms.maxDepth} levels deep`),
    fact(
      "budget",
      terms.budgetUsd === 0
        ? "no limit (--budget-usd sets one)"
        : `$${terms.budgetUsd} for ${terms.ownBudgetUsd === undefined ? "each run (budgets.run.usd)" : "this run"}`,
    ),
    ...gateLines(paint, terms, fact),
    fact("landing", landingRule(plan)),
    ...adviceLines(advice).map((line, index) => fact(index === 0 ? "advice" : "", line)),
    ...terms.changes.map(({ key, value }) =>
      hintLine(paint, `will be kept in the local configuration: ${key} = ${value}`),
    ),
  ];
}

function gateLines(paint: Paint, { gates, unverified }: Terms, fact: (name: string, value: string) => string) {
  if (gates.length > 0) return gates.map(({ command }, index) => fact(index === 0 ? "gates" : "", command));
  if (unverified === "land") {
    return [warningLine(paint, "NO QUALITY GATE, and branches land all the same: nothing checks what the agents did")];
  }
  return [
    warningLine(paint, "NO QUALITY GATE: nothing can check what the agents did, so each landing will wait for you"),
    hintLine(paint, 'give one with --gate "<command>", or let it land unchecked with --land-unverified'),
  ];
}

/** Where what is finished will be. */
export function landingRule({ target, targetIsYours }: Pick<GoPlan, "target" | "targetIsYours">): string {
  const branch = target ?? "the project's branch";
  if (targetIsYours) {
    return `${branch} is checked out here, so work gathers on overstory/integration/<run>; take it over with: ov merge promote`;
  }
  return `on ${branch} while it is checked out nowhere, else on overstory/integration/<run>`;
}
