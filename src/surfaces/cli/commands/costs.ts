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
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { CostLimit, SessionCost } from "../../../usecases/costs/list-costs.ts";
import type { LiveCost } from "../../../usecases/costs/live-costs.ts";
import { counted, duration, generationName } from "../../shared/format.ts";
import type { Call, Handler, Outcome, Rows } from "../command.ts";
import { integer, isOn, text } from "../given.ts";
import { hintLine } from "../marks.ts";
import { table } from "../table.ts";

const defaultCount = 20;

/** What agents used and cost. */
export const costs: Handler = async (call) => {
  const { flags } = call;
  if (isOn(flags.self)) return self(call);
  if (isOn(flags.live)) {
    const other = notLive.find((flag) => flags[flag] !== undefined && flags[flag] !== false);
    return other === undefined ? live(call) : no(invalid(`--${other}`, "and --live exclude each other"));
  }
  const by = isOn(flags["by-capability"]) ? "capability" : costGroupings.find((known) => known === flags.by);
  return by === undefined ? list(call) : grouped(call, by);
};

/** What is said of live agents is said of each of them, and narrowed by its name and its run alone. */
const notLive = ["by", "by-capability", "task", "bead", "capability", "runtime", "last"] as const;

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
  const { sessions, totals, all } = found.value;
  const money = moneyOf(call);
  const rows: Rows = {
    columns: ["AGENT", "CAPABILITY", "MODEL", "TURNS", ...tokenColumns, "COST", "LIMIT", "USED"],
    cells: sessions.map((session) => [
      namedSession(session),
      session.capability,
      session.model ?? "n/a",
      String(session.totals.turns),
      ...tokenCells(session.totals),
      cost(session.totals, money),
      ...limitCells(session, money),
    ]),
    objects: sessions.map(sessionCostView),
  };
  const line = (name: string, of: SpendingTotals) => [
    ...[name, "", "", String(of.turns)],
    ...tokenCells(of),
    cost(of, money),
    ...["", ""],
  ];
  const json = { sessions: rows.objects, totals: costTotalsView(totals), all: costTotalsView(all) };
  return shown(call, { rows, ...sumLines(call, { totals, all, line }), json, none: noneOf(call) });
}

async function grouped(call: Call, by: CostGrouping): Promise<Result<Outcome, Refusal>> {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const found = await call.app.call("cost.group", { ...filterOf(call), by, zone });
  if (!found.ok) return found;
  const { groups, totals, all } = found.value;
  const money = moneyOf(call);
  const rows: Rows = {
    columns: [by.toUpperCase(), "TURNS", ...tokenColumns, "COST", "TIME", "LIMIT", "USED"],
    cells: groups.map((group) => [
      group.key === "" ? "n/a" : group.key,
      String(group.totals.turns),
      ...tokenCells(group.totals),
      cost(group.totals, money),
      duration(group.totals.durationMs),
      ...limitCells(group, money),
    ]),
    objects: groups.map(costGroupView),
  };
  const line = (name: string, of: SpendingTotals) => [
    ...[name, String(of.turns)],
    ...tokenCells(of),
    ...[cost(of, money), duration(of.durationMs), "", ""],
  ];
  const sums = { totals: costTotalsView(totals), all: costTotalsView(all) };
  const json = { by, ...(by === "day" ? { zone } : {}), ...costGroupsView(groups), ...sums };
  return shown(call, { rows, ...sumLines(call, { totals, all, line }), json, none: noneOf(call) });
}

interface Sums {
  readonly totals: SpendingTotals;
  readonly all: SpendingTotals;
  readonly line: (name: string, of: SpendingTotals) => readonly string[];
}

/** The sum of the rows; where they are not all, the sum of all too, and how to see more. */
function sumLines({ flags, io }: Call, { totals, all, line }: Sums): Pick<Shown, "sums" | "after"> {
  const left = all.turns - totals.turns;
  if (left <= 0) return { sums: [line("Total", totals)] };
  const untasked = flags.by === "task" ? " or have no task" : "";
  const words = `${counted(left, "turn")} in All only: they are older than these rows${untasked}; more rows: --last <n>`;
  return { sums: [line("Total", totals), line("All", all)], after: hintLine(io.paint, words) };
}

async function live(call: Call): Promise<Result<Outcome, Refusal>> {
  const { agentName, runId } = filterOf(call);
  const found = await call.app.call("cost.live", { agentName, runId });
  if (!found.ok) return found;
  const { agents, totals, usdPerMinute, tokensPerMinute } = found.value;
  const money = moneyOf(call);
  const rows: Rows = {
    columns: ["AGENT", "CAPABILITY", "MODEL", "TURNS", ...tokenColumns, "COST", "ELAPSED"],
    cells: agents.map((agent) => [...liveCells(agent, money), duration(agent.elapsedMs)]),
    objects: agents.map(liveCostView),
  };
  const sum = ["Total", "", "", String(totals.turns), ...tokenCells(totals), cost(totals, money), ""];
  const rate = usdPerMinute === null ? "n/a" : `$${dollars(usdPerMinute)}`;
  const tokens = tokensPerMinute === null ? "n/a" : String(Math.round(tokensPerMinute));
  const after = hintLine(
    call.io.paint,
    `${rate} and ${tokens} tokens a minute; turns that run are reckoned by ov prices`,
  );
  return shown(call, { rows, sums: [sum], json: liveCostsView(found.value), none: "No agent is live.", after });
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

const liveCells = (agent: LiveCost, money: Money): string[] => [
  agent.agentName,
  agent.capability,
  agent.model ?? "n/a",
  String(agent.totals.turns),
  ...tokenCells(agent.totals),
  cost(agent.totals, money),
];

/** Agents that were started again under their name have a row for each time. */
export const namedSession = ({ agentName, generation }: Pick<SessionCost, "agentName" | "generation">): string =>
  generationName({ name: agentName, generation: generation ?? 1 });

const tokenColumns = ["INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"] as const;

/** A program that tells no tokens has used some all the same. */
function tokenCells({ turns, untold, input, output, cacheRead, cacheWrite }: SpendingTotals): string[] {
  const isKnown = turns === 0 || untold < turns;
  return [input, output, cacheRead, cacheWrite].map((count) => (isKnown ? String(count) : "n/a"));
}

type Money = (usd: number) => string;

/** As people read it; for a table program a number, to the millionth. */
const moneyOf = ({ flags }: Call): Money =>
  isOn(flags.csv) ? (usd) => String(Math.round(usd * 1_000_000) / 1_000_000) : (usd) => `$${dollars(usd)}`;

function cost({ turns, unpriced, costMicros }: SpendingTotals, money: Money): string {
  if (turns > 0 && unpriced === turns) return "n/a";
  const known = money(costMicros / 1_000_000);
  return unpriced === 0 ? known : `${known} + n/a`;
}

const limitCells = ({ limitUsd, usedPercent }: CostLimit, money: Money): string[] => [
  limitUsd === null ? "-" : money(limitUsd),
  usedPercent === null ? (limitUsd === null ? "-" : "n/a") : `${usedPercent}%`,
];

interface Shown {
  readonly rows: Rows;
  readonly sums: readonly (readonly string[])[];
  readonly json: Readonly<Record<string, unknown>>;
  /** The sentence for an empty list. */
  readonly none: string;
  readonly after?: string;
}

function shown({ flags, io }: Call, { rows, sums, json, none, after }: Shown): Result<Outcome, Refusal> {
  if (isOn(flags.csv)) return ok({ json, text: csv(rows), rows });
  if (rows.cells.length === 0) return ok({ json, text: none, rows });
  const all = { columns: rows.columns, cells: [...rows.cells, ...sums], optional };
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
