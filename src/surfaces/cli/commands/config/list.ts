import { ok } from "../../../../domain/result.ts";
import type { Handler, Rows } from "../../command.ts";
import { cut } from "../../format.ts";
import { fileSink } from "../../sink.ts";
import { table } from "../../table.ts";
import { plain, shown, warnOfProblems } from "./render.ts";

export const list: Handler = async ({ app, args, io }) => {
  const found = await app.call("config.list", typeof args.section === "string" ? { section: args.section } : {});
  if (!found.ok) return found;
  await warnOfProblems(app, io);
  const keys = found.value.map((key) => ({ ...key, value: plain(key.value), default: plain(key.default) }));
  const rows: Rows = {
    columns: ["KEY", "VALUE", "ORIGIN"],
    cells: keys.map(({ key, value, origin }) => [key, shown(value), origin]),
    objects: keys,
  };
  return ok({ json: { keys }, text: table(shortRows(keys, fileSink(1).columns()), io.paint), rows });
};

interface ListedKey {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

/**
 * For a person, in as many columns as the terminal has: a list of gates would push the origin out of sight, and
 * `ov config get` has all of it. Names of keys are never cut, for they are typed.
 */
export function shortRows(keys: readonly ListedKey[], room: number | undefined): Rows {
  const origins = keys.map(({ origin }) => origin.replace(/^\.overstory\//, ""));
  const longest = (texts: readonly string[]): number => Math.max(0, ...texts.map((text) => text.length));
  const left = (room ?? 0) - longest(keys.map(({ key }) => key)) - longest(origins) - 2 * gap;
  const widest = room === undefined ? mostShown : Math.min(mostShown, Math.max(leastShown, left));
  return {
    columns: ["KEY", "VALUE", "ORIGIN"],
    cells: keys.map(({ key, value }, at) => [key, cut(shown(value), widest), origins[at] ?? ""]),
  };
}

/** Between two columns of a table. */
const gap = 2;
const mostShown = 48;
const leastShown = 12;
