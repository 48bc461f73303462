import type { TokenCounts } from "../budget/usage.ts";
import { no, ok, type Result } from "../result.ts";

/**
 * Prices of models in US dollars per token, in the shape of LiteLLM's price map:
 *
 *   { "_meta": { "version": "2026-11-16", "date": "2026-11-16" },
 *     "<model>": { "input_cost_per_token": 5e-6, "output_cost_per_token": 25e-6,
 *                  "cache_read_input_token_cost": 5e-7, "cache_creation_input_token_cost": 6.25e-6 } }
 *
 * A model may have a list of such entries, each with the day from which it counts as `effective_from`. Other fields are
 * ignored, so that a file of LiteLLM can be used as it is.
 */
export interface PriceList {
  readonly version: string;
  /** The day on which the prices were looked up, such as 2026-11-16; null when nothing says so. */
  readonly date: string | null;
  /** By model. Of each, the newest price comes first. */
  readonly models: ReadonlyMap<string, readonly ModelPrice[]>;
}

export interface ModelPrice {
  /** The day from which it counts; null for ever. */
  readonly from: string | null;
  readonly input: number;
  readonly output: number;
  /** Null where the vendor names none: then such tokens cost what input costs. */
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly cacheWrite1h: number | null;
}

export interface FoundPrice extends ModelPrice {
  /** The model in the list; a shorter name than the one that was asked for, where that has a date or another ending. */
  readonly model: string;
}

/**
 * The price of a model on a day: by the name as it was asked for, which a project may have in its own list, else by its plain
 * name, else by the longest beginning of that which ends with a word.
 */
export function priceOf(list: PriceList, asked: string, at: number): FoundPrice | undefined {
  const given = asked.trim().toLowerCase();
  if (list.models.has(given)) return priceOn(list, given, at);
  const name = plainName(given);
  for (let end = name.length; end > 0; end = lastBorder(name, end)) {
    const model = name.slice(0, end);
    if (list.models.has(model) && !isOtherVersion(name.slice(end))) return priceOn(list, model, at);
  }
  return undefined;
}

function priceOn({ models }: PriceList, model: string, at: number): FoundPrice | undefined {
  const day = new Date(at).toISOString().slice(0, 10);
  const price = models.get(model)?.find(({ from }) => from === null || from <= day);
  return price === undefined ? undefined : { model, ...price };
}

/** Without the provider that some programs put before it, and as the vendor writes numbers: `4.5` is `4-5` for Claude. */
function plainName(given: string): string {
  const name = given.replace(/^.*\//, "").replace(/^(?:[a-z]{2,6}\.)?anthropic\./, "");
  return name.startsWith("claude") ? name.replace(/(\d)\.(\d)/g, "$1-$2") : name;
}

const lastBorder = (name: string, before: number): number => {
  for (let at = before - 1; at > 0; at--) if (/[-@:[\s]/.test(name[at] ?? "")) return at;
  return 0;
};

/** `claude-opus-4` says nothing about `claude-opus-4-9`. A date has more digits. */
const isOtherVersion = (rest: string): boolean => /^-\d{1,2}(?!\d)/.test(rest);

/** What these answers cost, in millionths of a dollar; undefined when the price of one is not known. */
export function costOf(
  list: PriceList,
  answers: readonly (TokenCounts & { readonly model: string | null })[],
  { model: otherwise, at }: { readonly model: string | null; readonly at: number },
): number | undefined {
  let dollars = 0;
  for (const { model, input, output, cacheRead, cacheWrite } of answers) {
    const named = model ?? otherwise;
    const price = named === null ? undefined : priceOf(list, named, at);
    if (price === undefined) return undefined;
    dollars += input * price.input + output * price.output;
    dollars += cacheRead * (price.cacheRead ?? price.input) + cacheWrite * (price.cacheWrite ?? price.input);
  }
  return Math.round(dollars * 1_000_000);
}

export const costSources = ["reported", "prices", "unknown"] as const;
/** The source of a turn's cost: its runtime, our list of prices, or none. */
export type CostSource = (typeof costSources)[number];

export interface TurnCost {
  readonly costMicros: number | null;
  readonly costSource: CostSource;
  /** Of the list that was used. */
  readonly priceVersion: string | null;
}

/** The runtime's own word counts before any list. Nothing said about tokens that were used is not a word. */
export function turnCost(turn: {
  readonly reportedUsd: number | null;
  readonly answers: Parameters<typeof costOf>[1];
  readonly model: string | null;
  readonly at: number;
  readonly list: PriceList;
}): TurnCost {
  const { reportedUsd, answers, list } = turn;
  const hasTokens = answers.some(
    ({ input, output, cacheRead, cacheWrite }) => input + output + cacheRead + cacheWrite > 0,
  );
  if (reportedUsd !== null && Number.isFinite(reportedUsd) && (reportedUsd > 0 || !hasTokens))
    return { costMicros: Math.round(Math.max(0, reportedUsd) * 1_000_000), costSource: "reported", priceVersion: null };
  const cost = hasTokens ? costOf(list, answers, turn) : undefined;
  if (cost === undefined) return { costMicros: null, costSource: "unknown", priceVersion: null };
  return { costMicros: cost, costSource: "prices", priceVersion: list.version };
}

const staleDays = 60;

/** How many days ago the prices were looked up; null when nothing says so. */
export function ageOf({ date }: PriceList, now: number): { readonly days: number; readonly isStale: boolean } | null {
  const looked = date === null ? Number.NaN : Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(looked)) return null;
  const days = Math.max(0, Math.floor((now - looked) / 86_400_000));
  return { days, isStale: days > staleDays };
}

/** A project's own prices count before ours, model by model. */
export const overlaid = (base: PriceList, own: PriceList): PriceList => ({
  version: `${base.version}+${own.version}`,
  date: base.date,
  models: new Map([...base.models, ...own.models]),
});

/** Reads a price map. A refusal says which model has what wrong. */
export function readPriceMap(data: unknown, version: string): Result<PriceList, string> {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return no("it is not a map of models");
  const models = new Map<string, readonly ModelPrice[]>();
  const meta = "_meta" in data ? (data._meta as Readonly<Record<string, unknown>>) : undefined;
  for (const [model, value] of Object.entries(data)) {
    if (model === "_meta" || model === "sample_spec") continue;
    const prices: ModelPrice[] = [];
    for (const entry of Array.isArray(value) ? (value as unknown[]) : [value]) {
      const price = priceIn(entry);
      if (typeof price === "string") return no(`${model}: ${price}`);
      // Models that are not paid by the token, as LiteLLM's map has them, have no price for us.
      if (price !== undefined) prices.push(price);
    }
    if (prices.length > 0) models.set(model.toLowerCase(), prices.toSorted(newestFirst));
  }
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  return ok({ version: text(meta?.version) ?? version, date: text(meta?.date), models });
}

const newestFirst = (a: ModelPrice, b: ModelPrice): number => ((a.from ?? "") < (b.from ?? "") ? 1 : -1);

function priceIn(entry: unknown): ModelPrice | string | undefined {
  if (typeof entry !== "object" || entry === null) return "an entry is not a map of prices";
  const fields = entry as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(fields)) {
    if (/cost/.test(name) && typeof value === "number" && (!Number.isFinite(value) || value < 0 || value > 1))
      return `${name} must be dollars per token, from 0 to 1`;
  }
  const from = fields.effective_from ?? null;
  if (from !== null && !(typeof from === "string" && /^\d{4}-\d\d-\d\d$/.test(from)))
    return "effective_from must be a day such as 2026-11-16";
  const number = (name: string): number | null => (typeof fields[name] === "number" ? fields[name] : null);
  const [input, output] = [number("input_cost_per_token"), number("output_cost_per_token")];
  if (input === null || output === null) return undefined;
  return {
    from,
    input,
    output,
    cacheRead: number("cache_read_input_token_cost"),
    cacheWrite: number("cache_creation_input_token_cost"),
    cacheWrite1h: number("cache_creation_input_token_cost_above_1hr"),
  };
}
