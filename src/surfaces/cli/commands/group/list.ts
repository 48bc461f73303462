import { ok } from "../../../../domain/result.ts";
import type { Handler, Rows } from "../../command.ts";
import { table } from "../../table.ts";
import { groupJson } from "./render.ts";

export const list: Handler = async ({ app, io }) => {
  const found = await app.call("group.list", {});
  if (!found.ok) return found;
  const { groups } = found.value;
  const rows: Rows = {
    columns: ["ID", "STATUS", "TASKS", "OWNER", "NAME"],
    cells: groups.map(({ group, memberIds }) => [
      group.id,
      group.status,
      String(memberIds.length),
      group.owner,
      group.name,
    ]),
    objects: groups.map(groupJson),
  };
  return ok({
    json: { groups: groups.map(groupJson) },
    text: groups.length === 0 ? "No groups." : table(rows, io.paint),
    rows,
  });
};
