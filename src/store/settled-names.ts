import { openMergeStatuses } from "../domain/merge/entry.ts";
import type { LandedMember, MergeOp, MergeOpRequest } from "../domain/merge/operation.ts";
import type { OldRows } from "../ports/store/old-rows.ts";
import { mergeOps } from "./merge-history.ts";
import { literals, placeholders, type Sql } from "./sql.ts";
import { insert, select } from "./table.ts";

const none = (what: string): string => `NOT EXISTS (SELECT 1 FROM ${what})`;

/** The incarnations, the branches and the merges of the agent `a`. */
const ids = "(SELECT o.id FROM agents o WHERE o.name = a.name)";
const branches = "(SELECT o.branch FROM agents o WHERE o.name = a.name AND o.branch IS NOT NULL)";
const ofIt = (entry: string): string => `(${entry}.agent_name = a.name OR ${entry}.branch IN ${branches})`;
const inList = (list: string, id: string): string =>
  `replace(replace(${list}, '[', ','), ']', ',') LIKE '%,' || ${id} || ',%'`;

/** Nothing in the store needs the agent `a` any more. Each question has an index, and the rare ones come last. */
const isSettled = [
  none(`agents o LEFT JOIN runs r ON r.id = o.run_id WHERE o.name = a.name
    AND (o.cleaned_at IS NULL OR o.cleaned_at >= ? OR r.status = 'active')`),
  none("runs r WHERE r.coordinator_name = a.name AND r.status = 'active'"),
  none("agents c WHERE c.parent_name = a.name AND c.released_at IS NULL"),
  none(`turns t WHERE t.agent_id IN ${ids}`),
  none(`transitions t WHERE t.agent_id IN ${ids}`),
  none(`tokens t WHERE t.agent_id IN ${ids}`),
  none("snapshots s WHERE s.agent_name = a.name"),
  none("waits w WHERE w.agent_name = a.name OR (w.kind = 'child' AND w.ref = a.name)"),
  none("deliveries d WHERE d.to_agent = a.name AND d.state IN ('queued', 'claimed', 'delivered')"),
  none("tasks t WHERE t.claimed_by = a.name AND t.status <> 'closed'"),
  none(`merge_queue q WHERE ${ofIt("q")} AND (q.status <> 'merged' OR q.updated_at >= ?)`),
  // Undone branches, and those that wait for a landing, are found by their entries.
  none(`merge_queue q JOIN merge_ops u ON u.kind = 'undo' AND ${inList("u.queue_ids", "q.id")} WHERE ${ofIt("q")}`),
  none(`merge_queue q JOIN merge_queue w ON w.status IN ${literals(openMergeStatuses)}
    AND ${inList("w.depends_on", "q.id")} WHERE ${ofIt("q")}`),
].join(" AND ");

/** The agents that nothing needs, for `OldRows`; see the port. */
export const settledNames = (sql: Sql): Pick<OldRows, "settledNames" | "forgetName" | "shortenLandings"> => ({
  settledNames: async ({ before, after, most }) => {
    const rows = await sql.all(
      `SELECT a.name, CASE WHEN ${isSettled} THEN 1 ELSE 0 END AS free FROM agents a WHERE a.name > ? AND a.cleaned_at < ?
         AND NOT EXISTS (SELECT 1 FROM agents l WHERE l.name = a.name AND l.generation > a.generation)
       ORDER BY a.name LIMIT ?`,
      before,
      before,
      after,
      before,
      most,
    );
    const last = rows.length < most ? undefined : rows.at(-1);
    return {
      free: rows.filter(({ free }) => Number(free) === 1).map(({ name }) => String(name)),
      last: last === undefined ? null : String(last.name),
    };
  },
  forgetName: async (name, before) => {
    const [still] = await sql.all(
      `SELECT 1 AS free FROM agents a WHERE a.name = ? AND ${isSettled} LIMIT 1`,
      name,
      before,
      before,
    );
    if (still === undefined) return 0;
    const own = "(SELECT o.id FROM agents o WHERE o.name = ?)";
    const merges = `SELECT q.id FROM merge_queue q WHERE q.agent_name = ?
      OR q.branch IN (SELECT o.branch FROM agents o WHERE o.name = ? AND o.branch IS NOT NULL)`;
    let removed = 0;
    for (const [statement, ...values] of [
      [
        `DELETE FROM receipts WHERE kind = 'landing' AND subject IN (SELECT 'merge:' || m.id FROM (${merges}) m)`,
        name,
        name,
      ],
      [`DELETE FROM merge_queue WHERE id IN (${merges})`, name, name],
      [`DELETE FROM notices WHERE agent_id IN ${own}`, name],
      // A task that is open, or was closed a short time ago, keeps its ledger: a person may go on with it.
      [
        `DELETE FROM budgets WHERE reserved = 0 AND scope = 'task' AND subject IN (SELECT o.task_id FROM agents o WHERE o.name = ?)
           AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = budgets.subject
             AND (t.status <> 'closed' OR t.closed_at IS NULL OR t.closed_at >= ?))
           AND NOT EXISTS (SELECT 1 FROM agents o WHERE o.task_id = budgets.subject AND o.name <> ?)`,
        name,
        before,
        name,
      ],
      ["DELETE FROM budgets WHERE reserved = 0 AND scope = 'agent' AND subject = ?", name],
      ["DELETE FROM checkpoints WHERE agent_name = ?", name],
      ["DELETE FROM identities WHERE agent_name = ?", name],
      ["DELETE FROM inbox_checks WHERE agent_name = ?", name],
      ["DELETE FROM agents WHERE name = ?", name],
    ] as const) {
      removed += await sql.run(statement, ...values);
    }
    return removed;
  },
  shortenLandings: async (before) => {
    const long = await select(
      sql,
      mergeOps,
      `WHERE kind = 'land' AND status = 'done' AND updated_at < ? AND request LIKE '%"members"%' ORDER BY seq`,
      before,
    );
    const short: MergeOp[] = [];
    for (const op of long) {
      const ids = [...(op.request.members ?? []), ...(op.request.along ?? [])].map((member) => member.id);
      const rows = await sql.all(`SELECT id FROM merge_queue WHERE id IN ${placeholders(ids.length)}`, ...ids);
      const there = new Set(rows.map((row) => Number(row.id)));
      if (!ids.every((one) => there.has(one))) short.push({ ...op, request: shortened(op.request, there) });
    }
    // SQLite joins pages that became nearly empty when rows are deleted, and not when they are made shorter.
    for (const { id } of short) await sql.run("DELETE FROM merge_ops WHERE id = ?", id);
    for (const op of short) await insert(sql, mergeOps, op);
    return short.length;
  },
});

/** Keys of a landing that are about its entries, one by one. Its verdict and its tree are about the whole. */
const aboutEntries: readonly string[] = [
  "members",
  "along",
  "joined",
  "leftOut",
  "results",
] satisfies (keyof MergeOpRequest)[];

function shortened(request: MergeOpRequest, there: ReadonlySet<number>): MergeOpRequest {
  const kept = <Member extends LandedMember>(all: readonly Member[] = []) => all.filter(({ id }) => there.has(id));
  const [members, along] = [kept(request.members), kept(request.along)];
  const whole = Object.fromEntries(Object.entries(request).filter(([key]) => !aboutEntries.includes(key)));
  return members.length + along.length === 0 ? whole : { ...whole, members, along };
}
