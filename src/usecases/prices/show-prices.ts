import { nearest } from "../../domain/name/nearest.ts";
import { ageOf, type FoundPrice, type ModelPrice, priceOf } from "../../domain/prices/prices.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";

export interface ShownPrice extends ModelPrice {
  readonly model: string;
  readonly source: "built-in" | "project";
}

export interface PriceReport {
  readonly version: string;
  /** The day on which the built-in prices were looked up. */
  readonly date: string | null;
  readonly ageDays: number | null;
  readonly stale: boolean;
  /** The file with the project's own prices, and the problem that keeps it from being used. */
  readonly file: string;
  readonly problem: string | null;
  readonly prices: readonly ShownPrice[];
}

/** The prices that count today: of all models, or of one by the rules by which turns are priced. */
export const showPrices: Effect<{ readonly model?: string | undefined }, PriceReport> = {
  kind: "effect",
  request: fields({}, { model: text }),
  place: "caller",
  run: async (world, { model }) => {
    const { list, own, file, problem, now } = await world.prices();
    const asked = model === undefined ? [...list.models.keys()].toSorted() : [model];
    const found = asked.map((one) => priceOf(list, one, now)).filter((price) => price !== undefined);
    if (model !== undefined && found.length === 0) {
      const close = nearest(model, [...list.models.keys()]);
      const why = "has no price here; its turns cost n/a unless their runtime says what they cost";
      return no(invalid("model", why, { value: model, ...(close === undefined ? {} : { nearest: close }) }));
    }
    const age = ageOf(list, now);
    const sourced = (price: FoundPrice): ShownPrice => ({
      ...price,
      source: own?.models.has(price.model) === true ? "project" : "built-in",
    });
    return ok({
      version: list.version,
      date: list.date,
      ageDays: age?.days ?? null,
      stale: age?.isStale ?? false,
      file,
      problem,
      prices: found.map(sourced),
    });
  },
};
