import type { ImportRecord, ImportRows } from "../ports/store/imports.ts";
import type { Sql } from "./sql.ts";
import { insert, integer, select, selectOne, table, text } from "./table.ts";

export const imports = table<ImportRecord>("imports", {
  source: text(),
  place: integer,
  taken: integer,
  updatedAt: integer,
});

export const importRows = (sql: Sql): ImportRows => ({
  get: (source) => selectOne(sql, imports, "WHERE source = ?", source),
  put: async (record) => {
    await sql.run("DELETE FROM imports WHERE source = ?", record.source);
    await insert(sql, imports, record);
  },
  list: () => select(sql, imports, "ORDER BY source"),
});
