import { noTokens, type TokenCounts, tokensOf } from "../budget/usage.ts";
import { type CostSource, costOf, type PriceList } from "../prices/prices.ts";

/** What a turn, or a session of a person, used and cost with one model. */
export interface Spending extends TokenCounts {
  /** The id of the turn; of a person's session `session:` and the id that its program gave it. */
  readonly source: string;
  /** 0 for the first model of the source. Its row stands for the source where sources are counted. */
  readonly part: number;
  readonly model: string | null;
  /** Null for a person's own session. */
  readonly agentId: string | null;
  readonly agentName: string;
  readonly capability: string;
  readonly runtime: string;
  readonly runId: string | null;
  readonly taskId: string | null;
  /** Its program told how many tokens it used. */
  readonly told: boolean;
  /** Millionths of a dollar; null when unknown. */
  readonly costMicros: number | null;
  readonly costSource: CostSource;
  readonly priceVersion: string | null;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** What sums are kept by. `session` is one incarnation of an agent, `quarter` a quarter of an hour. */
export const spendingDimensions = [
  "session",
  "agent",
  "task",
  "run",
  "capability",
  "runtime",
  "model",
  "quarter",
] as const;
export type SpendingDimension = (typeof spendingDimensions)[number];

/** What a person asks to see costs by. */
export const costGroupings = ["agent", "task", "model", "runtime", "run", "day", "capability"] as const;
export type CostGrouping = (typeof costGroupings)[number];

export interface SpendingTotals extends TokenCounts {
  /** Turns, and sessions of people. */
  readonly turns: number;
  /** Those of them whose program told no tokens. */
  readonly untold: number;
  /** Turns whose cost is unknown. */
  readonly unpriced: number;
  /** Of the others. */
  readonly costMicros: number;
  readonly durationMs: number;
}

/** The sum of one agent, task, run or other subject. */
export interface SpendingSum extends SpendingTotals {
  readonly dimension: SpendingDimension;
  readonly key: string;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The dollars of one subject in one step of time. */
export interface SpendingStep {
  readonly key: string;
  /** The number of the step since 1970. */
  readonly step: number;
  readonly costMicros: number;
}

export const noSpending: SpendingTotals = {
  turns: 0,
  untold: 0,
  unpriced: 0,
  ...noTokens,
  costMicros: 0,
  durationMs: 0,
};

/** Local days begin at a whole quarter of an hour in every time zone. */
export const quarterMs = 15 * 60_000;

/** The key of answers whose model no program named. */
export const unnamedModel = "";

/** The key of a row in a dimension; undefined where the row does not count there. */
export function spendingKey(dimension: SpendingDimension, row: Spending): string | undefined {
  switch (dimension) {
    case "session":
      return row.agentId ?? row.source;
    case "agent":
      return row.agentName;
    case "task":
      return row.taskId ?? undefined;
    case "run":
      return row.runId ?? undefined;
    case "capability":
      return row.capability;
    case "runtime":
      return row.runtime;
    case "model":
      return row.model ?? unnamedModel;
    case "quarter":
      return quarterOf(row.startedAt);
  }
}

/** A turn counts for the day on which it began. Padded, so that the order of keys is the order of time. */
const quarterOf = (at: number): string => String(Math.floor(at / quarterMs)).padStart(9, "0");

/**
 * What the sums grow by when the rows of one source replace those that were stored before. Turns of agents have none
 * before; a person's session is told again and again while it goes on.
 */
export function growthOf(before: readonly Spending[], now: readonly Spending[]): readonly SpendingSum[] {
  const sums = new Map<string, SpendingSum>();
  const add = (rows: readonly Spending[], sign: 1 | -1): void => {
    for (const dimension of spendingDimensions) {
      for (const row of rows) {
        const key = spendingKey(dimension, row);
        if (key === undefined) continue;
        const place = `${dimension} ${key}`;
        const known = sums.get(place) ?? { ...noSpending, dimension, key, firstAt: row.startedAt, lastAt: row.endedAt };
        sums.set(place, {
          ...known,
          ...plus(known, share(dimension, row), sign),
          firstAt: Math.min(known.firstAt, row.startedAt),
          lastAt: Math.max(known.lastAt, row.endedAt),
        });
      }
    }
  };
  add(now, 1);
  add(before, -1);
  return [...sums.values()];
}

/** A source with two models is one turn, except where models are told apart. */
function share(dimension: SpendingDimension, row: Spending): SpendingTotals {
  const counts = dimension === "model" || row.part === 0;
  return {
    turns: counts ? 1 : 0,
    untold: counts && !row.told ? 1 : 0,
    unpriced: counts && row.costMicros === null ? 1 : 0,
    ...tokensOf(row),
    costMicros: row.costMicros ?? 0,
    durationMs: counts ? row.endedAt - row.startedAt : 0,
  };
}

export function plus(a: SpendingTotals, b: SpendingTotals, sign: 1 | -1 = 1): SpendingTotals {
  return {
    turns: a.turns + sign * b.turns,
    untold: a.untold + sign * b.untold,
    unpriced: a.unpriced + sign * b.unpriced,
    input: a.input + sign * b.input,
    output: a.output + sign * b.output,
    cacheRead: a.cacheRead + sign * b.cacheRead,
    cacheWrite: a.cacheWrite + sign * b.cacheWrite,
    costMicros: a.costMicros + sign * b.costMicros,
    durationMs: a.durationMs + sign * b.durationMs,
  };
}

export const totalOf = (all: readonly SpendingTotals[]): SpendingTotals =>
  all.reduce<SpendingTotals>((sum, one) => plus(sum, one), noSpending);

/** The part of all known dollars, in percent with one place; null where the cost of every turn is unknown. */
export function costShare(part: SpendingTotals, all: SpendingTotals): number | null {
  if (all.costMicros === 0 || (part.turns > 0 && part.unpriced === part.turns)) return null;
  return Math.round((part.costMicros / all.costMicros) * 1000) / 10;
}

type Answer = TokenCounts & { readonly model: string | null };

/** Everything about a source but its models. */
export type SpendingSource = Omit<Spending, "part" | "model" | "told" | keyof TokenCounts> & {
  /** The model that it was started with, for answers that name none. */
  readonly model: string | null;
};

/**
 * The rows of one source: one for each model, the one with the most tokens first. A cost that is known for the whole
 * source only is divided by the prices of the list, else by tokens, so that the parts add up to it.
 */
export function spendingRows(source: SpendingSource, answers: readonly Answer[], list: PriceList): readonly Spending[] {
  const { model: otherwise, ...common } = source;
  const byModel = new Map<string | null, Answer>();
  for (const answer of answers) {
    const model = answer.model ?? otherwise;
    const known = byModel.get(model);
    byModel.set(model, known === undefined ? { ...answer, model } : { ...sumOf(known, answer), model });
  }
  const models = [...byModel.values()].toSorted((a, b) => weight(b) - weight(a));
  const told = models.length > 0;
  if (!told) {
    return [{ ...common, ...noTokens, model: otherwise, part: 0, told }];
  }
  const costs = dividedCost(source, models, list);
  return models.map((answer, part) => ({
    ...common,
    model: answer.model,
    part,
    told,
    ...tokensOf(answer),
    costMicros: costs[part] ?? null,
  }));
}

const weight = ({ input, output, cacheRead, cacheWrite }: TokenCounts): number =>
  input + output + cacheRead + cacheWrite;

const sumOf = (a: TokenCounts, b: TokenCounts): TokenCounts => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
});

function dividedCost(
  { costMicros, startedAt }: SpendingSource,
  models: readonly Answer[],
  list: PriceList,
): readonly (number | null)[] {
  if (costMicros === null) return models.map(() => null);
  const priced = models.map((one) => costOf(list, [one], { model: null, at: startedAt }));
  const isPriced = priced.every((cost) => cost !== undefined) && priced.some((cost) => (cost ?? 0) > 0);
  const shares = isPriced ? priced.map((cost) => cost ?? 0) : models.map(weight);
  const whole = shares.reduce((sum, one) => sum + one, 0);
  const rest = shares.map((one) => (whole === 0 ? 0 : Math.floor((costMicros * one) / whole)));
  const left = costMicros - rest.reduce((sum, one) => sum + one, 0);
  return rest.map((cost, at) => (at === 0 ? cost + left : cost));
}

/** Tells the day of a moment in a time zone, as 2026-11-18; undefined for a zone that is none. */
export function localDay(zone: string): ((at: number) => string) | undefined {
  try {
    const days = new Intl.DateTimeFormat("en-CA", {
      timeZone: zone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
    });
    return (at) => days.format(at);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
