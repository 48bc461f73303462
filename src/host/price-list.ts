import { join } from "node:path";
import listed from "../domain/prices/list.json";
import { overlaid, type PriceList, readPriceMap } from "../domain/prices/prices.ts";
import type { Prices } from "../ports/prices.ts";
import { readText } from "./file-access.ts";
import { randomIds } from "./ids.ts";
import { sharedDir } from "./project-place.ts";

/** Prices of models: those of this version, and before them those in `.overstory/prices.json` of the project. */
export function projectPrices(root: string): Prices {
  const base = built();
  const file = join(sharedDir(root), "prices.json");
  const text = readText(file);
  if (text === undefined) return { list: base, file, own: null, problem: null };
  const own = ownPrices(text);
  if (typeof own === "string") return { list: base, file, own: null, problem: own };
  return { list: overlaid(base, own), file, own, problem: null };
}

function built(): PriceList {
  const read = readPriceMap(listed, "built-in");
  if (!read.ok) throw new Error(`the list of prices is broken: ${read.refusal}`);
  return read.value;
}

/** The digest tells one content of the file from another where the file has no version of its own. */
function ownPrices(text: string): PriceList | string {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    return `it is not JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const read = readPriceMap(data, `project-${randomIds.digest(text).slice(0, 8)}`);
  return read.ok ? read.value : read.refusal;
}
