import {
  costGroupsView,
  costGroupView,
  costTotalsView,
  liveCostsView,
  liveCostView,
  ownSessionView,
  sessionCostView,
} from "../../../contract/views/cost.ts";
import { dollars } from "../../../domain/budget/budget.ts";
import { type CostGrouping, costGroupings, type SpendingTotals } from "../../../domain/cost/spending.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { CostLimit, SessionCost } from "../../../usecases/costs/list-costs.ts";
import type { LiveCost } from "../../../usecases/costs/live-costs.ts";
import { duration } from "../../shared/format.ts";
import type { Call, Handler, Outcome, Rows } from "../command.ts";
import { integer, isOn, text } from "../given.ts";
import { hintLine } from "../marks.ts";
import { table } from "../table.ts";

const defaultCount = 20;

/** What agents used and cost. */
export const costs: Handler = async (call) => {
  const { flags } = call;
  if (isOn(flags.self)) return self(call);
  if (isOn(flags.live)) return live(call);
  const by = isOn(flags["by-capability"]) ? "capability" : costGroupings.find((known) => known === flags.by);
  return by === undefined ? list(call) : grouped(call, by);
};

const filterOf = ({ flags }: Call) => ({
  agentName: text(flags.agent),
  runId: text(flags.run),
  taskId: text(flags.task) ?? text(flags.bead),
  capability: text(flags.capability),
  runtime: text(flags.runtime),
  last: integer(flags.last) ?? defaultCount,
});

const noneOf = ({ flags }: Call): string =>
  narrowing.some((flag) => flags[flag] !== undefined)
    ? "No turn that fits these flags has settled yet."
    : "No turn has settled yet, so nothing was spent.";

const narrowing = ["agent", "run", "task", "bead", "capability", "runtime"] as const;

async function list(call: Call): Promise<Result<Outcome, Refusal>> {
  const found = await call.app.call("cost.list", filterOf(call));
  if (!found.ok) return found;
  const { sessions, totals } = found.value;
  const rows: Rows = {
    columns: ["AGENT", "CAPABILITY", "MODEL", "TURNS", ...tokenColumns, "COST", "LIMIT", "USED"],
    cells: sessions.map((session) => [
      namedSession(session),
      session.capability,
      session.model ?? "n/a",
      String(session.totals.turns),
      ...tokenCells(session.totals),
      cost(session.totals),
      ...limitCells(session),
    ]),
    objects: sessions.map(sessionCostView),
  };
  const sum = ["Total", "", "", String(totals.turns), ...tokenCells(totals), cost(totals), "", ""];
  const json = { sessions: rows.objects, totals: costTotalsView(totals) };
  return shown(call, { rows, sum, json, none: noneOf(call) });
}

async function grouped(call: Call, by: CostGrouping): Promise<Result<Outcome, Refusal>> {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const found = await call.app.call("cost.group", { ...filterOf(call), by, zone });
  if (!found.ok) return found;
  const { groups, totals } = found.value;
  const rows: Rows = {
    columns: [by.toUpperCase(), "TURNS", ...tokenColumns, "COST", "TIME", "LIMIT", "USED"],
    cells: groups.map((group) => [
      group.key === "" ? "n/a" : group.key,
      String(group.totals.turns),
      ...tokenCells(group.totals),
      cost(group.totals),
      duration(group.totals.durationMs),
      ...limitCells(group),
    ]),
    objects: groups.map(costGroupView),
  };
  const time = duration(totals.durationMs);
  const sum = ["Total", String(totals.turns), ...tokenCells(totals), cost(totals), time, "", ""];
  const json = { by, ...(by === "day" ? { zone } : {}), ...costGroupsView(groups), totals: costTotalsView(totals) };
  return shown(call, { rows, sum, json, none: noneOf(call) });
}

async function live(call: Call): Promise<Result<Outcome, Refusal>> {
  const { agentName, runId } = filterOf(call);
  const found = await call.app.call("cost.live", { agentName, runId });
  if (!found.ok) return found;
  const { agents, totals, usdPerMinute, tokensPerMinute } = found.value;
  const rows: Rows = {
    columns: ["AGENT", "CAPABILITY", "MODEL", "TURNS", ...tokenColumns, "COST", "ELAPSED"],
    cells: agents.map((agent) => [...liveCells(agent), duration(agent.elapsedMs)]),
    objects: agents.map(liveCostView),
  };
  const sum = ["Total", "", "", String(totals.turns), ...tokenCells(totals), cost(totals), ""];
  const rate = usdPerMinute === null ? "n/a" : `$${dollars(usdPerMinute)}`;
  const tokens = tokensPerMinute === null ? "n/a" : String(Math.round(tokensPerMinute));
  const after = hintLine(
    call.io.paint,
    `${rate} and ${tokens} tokens a minute; turns that run are reckoned by ov prices`,
  );
  return shown(call, { rows, sum, json: liveCostsView(found.value), none: "No agent is live.", after });
}

async function self({ app, io }: Call): Promise<Result<Outcome, Refusal>> {
  const found = await app.call("cost.self", {});
  if (!found.ok) return found;
  const { path, model, tokens, costUsd } = found.value;
  const fact = (name: string, value: string): string => `  ${io.paint.dim(name.padEnd(11))}  ${visibleLine(value)}`;
  return ok({
    json: ownSessionView(found.value),
    text: [
      io.paint.bold("Your own session"),
      fact("model", model ?? "n/a"),
      fact("file", path),
      fact("input", String(tokens.input)),
      fact("output", String(tokens.output)),
      fact("cache read", String(tokens.cacheRead)),
      fact("cache write", String(tokens.cacheWrite)),
      fact("cost", costUsd === null ? "n/a" : `$${dollars(costUsd)}`),
    ].join("\n"),
  });
}

const liveCells = (agent: LiveCost): string[] => [
  agent.agentName,
  agent.capability,
  agent.model ?? "n/a",
  String(agent.totals.turns),
  ...tokenCells(agent.totals),
  cost(agent.totals),
];

/** Agents that were started again under their name have a row for each time. */
export const namedSession = ({ agentName, generation }: Pick<SessionCost, "agentName" | "generation">): string =>
  generation === null || generation === 1 ? agentName : `${agentName} (${generation})`;

const tokenColumns = ["INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"] as const;

/** A program that tells no tokens has used some all the same. */
function tokenCells({ turns, untold, input, output, cacheRead, cacheWrite }: SpendingTotals): string[] {
  const isKnown = turns === 0 || untold < turns;
  return [input, output, cacheRead, cacheWrite].map((count) => (isKnown ? String(count) : "n/a"));
}

function cost({ turns, unpriced, costMicros }: SpendingTotals): string {
  if (turns > 0 && unpriced === turns) return "n/a";
  const known = `$${dollars(costMicros / 1_000_000)}`;
  return unpriced === 0 ? known : `${known} + n/a`;
}

const limitCells = ({ limitUsd, usedPercent }: CostLimit): string[] => [
  limitUsd === null ? "-" : `$${dollars(limitUsd)}`,
  usedPercent === null ? (limitUsd === null ? "-" : "n/a") : `${usedPercent}%`,
];

interface Shown {
  readonly rows: Rows;
  readonly sum: readonly string[];
  readonly json: Readonly<Record<string, unknown>>;
  /** The sentence for an empty list. */
  readonly none: string;
  readonly after?: string;
}

function shown({ flags, io }: Call, { rows, sum, json, none, after }: Shown): Result<Outcome, Refusal> {
  if (isOn(flags.csv)) return ok({ json, text: csv(rows), rows });
  if (rows.cells.length === 0) return ok({ json, text: none, rows });
  const all = { columns: rows.columns, cells: [...rows.cells, sum], optional };
  const lines = [table(all, io.paint)];
  return ok({ json, text: [...lines, ...(after === undefined ? [] : [after])].join("\n"), rows });
}

/** What a narrow terminal does without. `--json` and `--csv` have every column. */
const optional = ["CACHE WRITE", "CACHE READ", "CAPABILITY", "MODEL", "LIMIT", "USED", "TIME", "INPUT", "OUTPUT"];

/** RFC 4180: cells with a comma, a quote or a line break stand in quotes. */
function csv({ columns, cells }: Rows): string {
  const cell = (value: string): string => {
    const visible = visibleText(value);
    return /[",\n]/.test(visible) ? `"${visible.replaceAll('"', '""')}"` : visible;
  };
  const names = columns.map((column) => column.toLowerCase().replaceAll(" ", "_"));
  return [names, ...cells].map((row) => row.map(cell).join(",")).join("\n");
}
