import { kept, mostAmount } from "../../../domain/budget/budget.ts";
import { type Advice, adviceLines } from "../../../domain/coordination/advice.ts";
import { formerLanding, integrationPrefix, isIntegration, ownLanding } from "../../../domain/merge/landing-branch.ts";
import { promoteCommand } from "../../../domain/merge/words.ts";
import { type InvalidInput, invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { RunTarget } from "../../../usecases/branches/branches.ts";
import type { StartOfWork } from "../../../usecases/branches/start-of-work.ts";
import type { TeamRuntimes } from "../../../usecases/project/caller-shell.ts";
import { counted } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Call, Paint } from "../command.ts";
import { integer, isOn, text, texts } from "../given.ts";
import { hintLine, warningLine } from "../marks.ts";
import { looseLines } from "./coordinator-start.ts";
import { startWords } from "./merge-render.ts";

interface NamedGate {
  readonly name: string;
  readonly command: string;
}

/** The conditions of a run: the configured ones, with the typed flags on top. */
export interface Terms {
  readonly maxConcurrent: number;
  /** 0: no limit. */
  readonly maxAgents: number;
  readonly maxDepth: number;
  /** US dollars for the run; 0: no limit. */
  readonly budgetUsd: number;
  /** The budget that was typed for this run; it replaces the configured limit. */
  readonly ownBudgetUsd: number | undefined;
  readonly gates: readonly NamedGate[];
  /** The gates among them that were typed and are not configured yet. */
  readonly added: readonly NamedGate[];
  /** Whether work may land when a gate fails on the target too. */
  readonly baselineFailing: "warn" | "block";
  /** `ask`: the operator promotes landed work. `auto`: the engine does. */
  readonly promote: "ask" | "auto";
  readonly unverified: "wait" | "land";
  /** Settings that must be written for this to be true. */
  readonly changes: readonly { readonly key: string; readonly value: string }[];
}

export async function termsOf(app: App, { flags }: Pick<Call, "flags">): Promise<Result<Terms, Refusal>> {
  const budget = budgetOf(text(flags["budget-usd"]));
  if (!budget.ok) return budget;
  const configured = await gatesOf(app);
  if (!configured.ok) return configured;
  const known = new Set(configured.value.map(({ command }) => command));
  const typed = new Set((texts(flags.gate) ?? []).filter((command) => !known.has(command)));
  const added = [...typed].map((command) => ({ name: command, command }));
  const gates = [...configured.value, ...added];
  const unverified = isOn(flags["land-unverified"]) ? "land" : await settingOf(app, "merge.unverified");
  const maxAgents = integer(flags["max-agents"]) ?? (await numberOf(app, "agents.maxSessionsPerRun"));
  const budgetUsd = budget.value ?? (await numberOf(app, "budgets.run.usd"));
  return ok({
    maxConcurrent: await numberOf(app, "agents.maxConcurrent"),
    maxDepth: await numberOf(app, "agents.maxDepth"),
    maxAgents,
    budgetUsd,
    ownBudgetUsd: budget.value,
    gates,
    added,
    baselineFailing: (await settingOf(app, "merge.baselineFailing")) === "block" ? "block" : "warn",
    promote: (await settingOf(app, "merge.promote")) === "auto" ? "auto" : "ask",
    unverified: unverified === "land" ? "land" : "wait",
    changes: [
      ...(added.length === 0 ? [] : [{ key: "project.qualityGates", value: JSON.stringify(gates) }]),
      ...(isOn(flags["land-unverified"]) ? [{ key: "merge.unverified", value: "land" }] : []),
      ...(integer(flags["max-agents"]) === undefined
        ? []
        : [{ key: "agents.maxSessionsPerRun", value: String(maxAgents) }]),
    ],
  });
}

/**
 * Writes the settings that the terms need. An engine with the old settings makes room for one with the new settings.
 */
export async function applyTerms({ app, io }: Call, { changes }: Terms): Promise<Result<null, Refusal>> {
  let changed = false;
  for (const { key, value } of changes) {
    const set = await app.call("config.set", { key, value, local: true });
    if (!set.ok) return set;
    if (JSON.stringify(set.value.before) === JSON.stringify(set.value.after.value)) continue;
    changed = true;
    io.changed(`${key} in config.local.yaml`);
  }
  if (!changed || app.engine.status() === undefined) return ok(null);
  const stopped = await app.call("engine.stop", {});
  return stopped.ok ? ok(null) : stopped;
}

export function budgetOf(typed: string | undefined): Result<number | undefined, InvalidInput> {
  if (typed === undefined) return ok(undefined);
  const usd = Number(typed);
  if (typed.trim() !== "" && usd <= mostAmount.usd && kept("usd", usd) > 0) return ok(usd);
  return no(invalid("budget-usd", `must be a number above 0 and at most ${mostAmount.usd}`, { value: typed }));
}

async function gatesOf(app: App): Promise<Result<readonly NamedGate[], Refusal>> {
  const found = await app.call("config.get", { key: "project.qualityGates" });
  if (!found.ok) return found;
  return ok(Array.isArray(found.value) ? found.value.filter(isGate) : []);
}

function isGate(value: unknown): value is NamedGate {
  if (typeof value !== "object" || value === null || !("name" in value) || !("command" in value)) return false;
  return typeof value.name === "string" && typeof value.command === "string";
}

async function numberOf(app: App, key: string): Promise<number> {
  const value = await settingOf(app, key);
  if (typeof value !== "number") throw new Error(`there is no number ${key}`);
  return value;
}

async function settingOf(app: App, key: string): Promise<unknown> {
  const found = await app.call("config.get", { key });
  return found.ok ? found.value : undefined;
}

export interface GoPlan {
  readonly objective: string;
  readonly terms: Terms;
  readonly advice: Advice;
  /** Where the work is meant to go. */
  readonly target: RunTarget;
  /** Where the work starts from; undefined before the first commit. */
  readonly start: StartOfWork | undefined;
  readonly team: TeamRuntimes;
  /** How many tracked files of the checkout are changed and not committed. */
  readonly changed: number;
}

/** What a person should know before they say yes. */
export function planLines(paint: Paint, plan: GoPlan): readonly string[] {
  const { objective, terms, advice, team, target, start, changed } = plan;
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(9))} ${visibleLine(value)}`;
  const all = terms.maxAgents === 0 ? "any number in all" : `${terms.maxAgents} in all`;
  return [
    fact("objective", objective),
    fact("runtime", teamWords(team)),
    fact("agents", `${terms.maxConcurrent} turns at once, ${all}, ${terms.maxDepth} levels deep`),
    fact(
      "budget",
      terms.budgetUsd === 0
        ? "no limit (--budget-usd sets one)"
        : `$${terms.budgetUsd} for ${terms.ownBudgetUsd === undefined ? "each run (budgets.run.usd)" : "this run"}`,
    ),
    ...gateLines(paint, terms, fact),
    ...(start === undefined ? [] : [fact("starts at", startWords(start))]),
    ...looseLines(target).map((line) => warningLine(paint, line)),
    ...(changed === 0 ? [] : [warningLine(paint, changesLine(changed))]),
    fact("landing", landingRule(plan)),
    ...adviceLines(advice).map((line, index) => fact(index === 0 ? "advice" : "", line)),
    ...terms.changes.map(({ key, value }) =>
      hintLine(paint, `will be kept in the local configuration: ${key} = ${value}`),
    ),
  ];
}

const changesLine = (changed: number): string =>
  `${counted(changed, "file")} of your checkout ${changed === 1 ? "has" : "have"} changes that are not committed; the team does not get them before you commit them`;

function teamWords({ runtime, others }: TeamRuntimes): string {
  return [runtime, ...others.map((one) => `${one.capability}: ${one.runtime}`)].join(", ");
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

/** The branch on which finished work will be. */
export function landingRule({ target: { branch, isHere }, start }: Pick<GoPlan, "target" | "start">): string {
  const promote = "take it over with: ov merge promote";
  if (start !== undefined && start.branch !== branch) {
    // A landing branch that an earlier run began has the id of that run in its name.
    const isOfRun = isIntegration(start.branch) && ![ownLanding(branch), formerLanding(branch)].includes(start.branch);
    const runId = isOfRun ? start.branch.slice(integrationPrefix.length) : null;
    const named = promoteCommand({ runId, target: branch });
    return `work gathers on ${start.branch}, where landed work waits already; take it over with: ${named}`;
  }
  if (isHere || start?.targetCheckedOut === true) {
    const where = isHere ? "here" : "in another worktree";
    return `${branch} is checked out ${where}, so work gathers on overstory/integration/<run>; ${promote}`;
  }
  return `on ${branch} while it is checked out nowhere, else on overstory/integration/<run>`;
}
