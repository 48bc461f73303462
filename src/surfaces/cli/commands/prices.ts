import { priceView } from "../../../contract/views/project.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { ShownPrice } from "../../../usecases/prices/show-prices.ts";
import type { Handler, Rows } from "../command.ts";
import { text } from "../given.ts";
import { hintLine, warningLine } from "../marks.ts";
import { table } from "../table.ts";

export const show: Handler = async ({ app, args, io }) => {
  const model = text(args.model);
  const found = await app.call("prices.show", model === undefined ? {} : { model });
  if (!found.ok) return found;
  const { version, date, ageDays, stale, file, problem, prices } = found.value;
  const objects = prices.map(priceView);
  const rows: Rows = {
    columns: ["MODEL", "INPUT", "OUTPUT", "CACHE WRITE", "1 HOUR", "CACHE READ", "FROM", "SOURCE"],
    cells: prices.map(cells),
    objects,
    optional: ["FROM", "SOURCE"],
  };
  const age = ageDays === null ? "" : `, ${ageDays} ${ageDays === 1 ? "day" : "days"} old`;
  const lines = [`Prices ${visibleLine(version)}${age}, in dollars for a million tokens`, table(rows, io.paint)];
  const own = "prices of your own go to .overstory/prices.json, in the shape of LiteLLM's price map";
  if (stale)
    lines.push(
      warningLine(io.paint, "these prices are more than 60 days old", `compare them with the vendors'; ${own}`),
    );
  else lines.push(hintLine(io.paint, own));
  if (problem !== null)
    lines.push(warningLine(io.paint, `${visibleLine(file)} is not used: ${visibleLine(problem)}`, "mend it"));
  return ok({
    json: { version, date, ageDays, stale, file, problem, prices: objects },
    text: lines.join("\n"),
    wraps: true,
    rows,
  });
};

function cells({ model, input, output, cacheWrite, cacheWrite1h, cacheRead, from, source }: ShownPrice): string[] {
  const costs = [input, output, cacheWrite, cacheWrite1h, cacheRead].map((cost) =>
    cost === null ? "-" : perMillion(cost),
  );
  return [model, ...costs, from ?? "-", source];
}

const perMillion = (cost: number): string => String(Number((cost * 1_000_000).toFixed(6)));
