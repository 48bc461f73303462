import { ok } from "../../../../domain/result.ts";
import type { Handler, Rows } from "../../command.ts";
import { cut } from "../../format.ts";
import { table } from "../../table.ts";
import { plain, shown, warnOfProblems } from "./render.ts";

export const list: Handler = async ({ app, args, io }) => {
  const config = await app.config();
  const found = await config.list(typeof args.section === "string" ? args.section : undefined);
  if (!found.ok) return found;
  await warnOfProblems(config, io);
  const keys = found.value.map((key) => ({ ...key, value: plain(key.value), default: plain(key.default) }));
  const rows: Rows = {
    columns: ["KEY", "VALUE", "ORIGIN", "NOTE"],
    cells: keys.map(({ key, value, origin, later }) => [
      key,
      shown(value),
      origin,
      later === undefined ? "" : "accepted, no effect yet",
    ]),
    objects: keys,
  };
  const short = { ...rows, cells: rows.cells.map((row) => row.map((cell) => cut(cell, widest))) };
  return ok({ json: { keys }, text: table(short, io.paint), rows });
};

/** A list of gates would push the origin out of sight; `ov config get` has all of it. */
const widest = 48;
