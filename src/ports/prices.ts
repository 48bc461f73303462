import type { PriceList } from "../domain/prices/prices.ts";

/** The prices that count in a project. */
export interface Prices {
  readonly list: PriceList;
  /** Where the project's own prices are, or would be. */
  readonly file: string;
  /** The project's own prices; null without any, or when they cannot be used. */
  readonly own: PriceList | null;
  /** Why the project's own prices are not used. */
  readonly problem: string | null;
}
