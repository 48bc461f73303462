import type { Agent, AgentOutcome, AgentState, Topology, WorktreeKind } from "../domain/agent/agent.ts";
import { type Capability, capabilityClasses } from "../domain/agent/capability.ts";
import type { ModelTerms } from "../domain/agent/model.ts";
import type { RuntimeSpec } from "../domain/agent/runtime-spec.ts";
import { attachPrefix } from "../domain/agent/wait.ts";
import type { AgentFilter, AgentRows } from "../ports/store/agents.ts";
import { conditionList, literals, placeholders, type Sql, type SqlValue } from "./sql.ts";
import { assign, flag, insert, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

export const agents = table<Agent>("agents", {
  id: text(),
  name: text(),
  generation: integer,
  capability: text<Capability>(),
  runtime: text(),
  driver: text(),
  runtimeSpec: nullable(json<RuntimeSpec>()),
  cliVersion: nullable(text()),
  model: nullable(text()),
  modelTerms: nullable(json<ModelTerms>()),
  topology: text<Topology>(),
  parentName: text(),
  depth: integer,
  runId: text(),
  taskId: nullable(text()),
  specPath: nullable(text()),
  scope: json<readonly string[]>(),
  shares: json<readonly string[]>(),
  worktreePath: nullable(text()),
  worktreeIdentity: nullable(text()),
  branch: nullable(text()),
  baseRef: nullable(text()),
  baseCommit: nullable(text()),
  envFile: nullable(text()),
  state: text<AgentState>(),
  stateVersion: integer,
  outcome: nullable(text<AgentOutcome>()),
  stopRequestedBy: nullable(text()),
  providerSessionId: nullable(text()),
  reminders: integer,
  revivals: integer,
  worktreeKind: text<WorktreeKind>(),
  headCommit: nullable(text()),
  ahead: integer,
  dirty: flag,
  successorName: nullable(text()),
  escalationLevel: integer,
  stalledSince: nullable(integer),
  instructions: nullable(text()),
  startedAt: integer,
  lastActivityAt: integer,
  endedAt: nullable(integer),
  releasedAt: nullable(integer),
  cleanedAt: nullable(integer),
});

const live = "state NOT IN ('completed', 'zombie')";

const newest =
  "NOT EXISTS (SELECT 1 FROM agents later WHERE later.name = agents.name AND later.generation > agents.generation)";

const couldBeStuck = `(topology = 'attached' OR stalled_since IS NOT NULL
  OR (capability NOT IN ${literals(capabilityClasses.persistent)} AND (
    EXISTS (SELECT 1 FROM turns t WHERE t.agent_id = agents.id AND t.status = 'running')
    OR (worktree_path IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.agent_id = agents.id AND t.status = 'queued')
      AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.agent_name = agents.name)
      AND NOT EXISTS (SELECT 1 FROM agents c WHERE c.parent_name = agents.name
        AND c.state NOT IN ('completed', 'zombie'))))))`;

export const agentRows = (sql: Sql): AgentRows => ({
  reserve: async (agent) => {
    await insert(sql, agents, agent);
  },
  get: (id) => selectOne(sql, agents, "WHERE id = ?", id),
  byName: (name) =>
    selectOne(
      sql,
      agents,
      `WHERE name = ? ORDER BY CASE WHEN ${live} THEN 0 ELSE 1 END, generation DESC LIMIT 1`,
      name,
    ),
  list: (filter) => {
    const { where, values } = conditions(filter);
    return select(sql, agents, `${where} ORDER BY started_at, name`, ...values);
  },
  names: async () => {
    const rows = await sql.all("SELECT DISTINCT name FROM agents");
    return rows.map((row) => String(row.name));
  },
  move: async (before, change, request, now) => {
    const { set, values } = assign(agents, change);
    const moved = await sql.run(
      `UPDATE agents SET ${set} WHERE id = ? AND state_version = ?`,
      ...values,
      before.id,
      before.stateVersion,
    );
    if (moved === 0) return false;
    await sql.run(
      "INSERT INTO transitions (agent_id, from_state, to_state, outcome, actor, reason, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      before.id,
      before.state,
      change.state,
      change.outcome,
      request.actor,
      request.reason,
      now,
    );
    return true;
  },
  seated: async (id, seat) => {
    const { set, values } = assign(agents, seat);
    // An agent that was released meanwhile was cleaned without it: now there is something to take away.
    await sql.run(`UPDATE agents SET ${set}, cleaned_at = NULL WHERE id = ?`, ...values, id);
  },
  setBase: async (id, baseCommit) => {
    await sql.run("UPDATE agents SET base_commit = ? WHERE id = ?", baseCommit, id);
  },
  setArea: async (id, area) => {
    const { set, values } = assign(agents, area);
    await sql.run(`UPDATE agents SET ${set} WHERE id = ?`, ...values, id);
  },
  sawProviderSession: async (id, providerSessionId, version) => {
    await sql.run(
      "UPDATE agents SET provider_session_id = ?, cli_version = COALESCE(cli_version, ?) WHERE id = ?",
      providerSessionId,
      version,
      id,
    );
  },
  forgetProviderSession: async (id) => {
    await sql.run("UPDATE agents SET provider_session_id = NULL WHERE id = ?", id);
  },
  sawActivity: async (id, now) => {
    await sql.run("UPDATE agents SET last_activity_at = ? WHERE id = ? AND last_activity_at < ?", now, id, now);
  },
  setReminders: async (id, reminders) => {
    await sql.run("UPDATE agents SET reminders = ? WHERE id = ?", reminders, id);
  },
  requestStop: async (id, by) => {
    await sql.run("UPDATE agents SET stop_requested_by = ? WHERE id = ?", by, id);
  },
  release: async (id, now) =>
    (await sql.run("UPDATE agents SET released_at = ? WHERE id = ? AND released_at IS NULL", now, id)) > 0,
  inspected: async (id, facts) => {
    const { set, values } = assign(agents, facts);
    await sql.run(`UPDATE agents SET ${set} WHERE id = ?`, ...values, id);
  },
  setSuccessor: async (id, successorName) => {
    await sql.run("UPDATE agents SET successor_name = ? WHERE id = ?", successorName, id);
  },
  stopping: () => select(sql, agents, `WHERE stop_requested_by IS NOT NULL AND ${live} ORDER BY started_at, id`),
  // Not while a person still works in it.
  toClean: () =>
    select(
      sql,
      agents,
      `WHERE released_at IS NOT NULL AND cleaned_at IS NULL AND NOT EXISTS
         (SELECT 1 FROM leases l WHERE l.name = '${attachPrefix}' || agents.name AND l.beat >= 0)
       ORDER BY released_at, id`,
    ),
  cleaned: async (id, now) => {
    await sql.run("UPDATE agents SET cleaned_at = ? WHERE id = ?", now, id);
  },
  setEscalation: async (id, level, stalledSince) => {
    const { set, values } = assign(agents, { escalationLevel: level, stalledSince });
    await sql.run(`UPDATE agents SET ${set} WHERE id = ?`, ...values, id);
  },
  watchable: () => select(sql, agents, `WHERE ${live} AND stop_requested_by IS NULL AND ${couldBeStuck} ORDER BY id`),
  submittedBefore: (time) =>
    select(
      sql,
      agents,
      "WHERE state = 'completed' AND released_at IS NULL AND ended_at < ? ORDER BY ended_at, id",
      time,
    ),
  usesEnvironment: async (envFile, exceptName) => {
    const newest =
      "NOT EXISTS (SELECT 1 FROM agents n WHERE n.name = agents.name AND n.generation > agents.generation)";
    const rows = await sql.all(
      `SELECT 1 AS used FROM agents WHERE env_file = ? AND name <> ? AND cleaned_at IS NULL AND ${newest} LIMIT 1`,
      envFile,
      exceptName,
    );
    return rows.length > 0;
  },
  ahead: () =>
    select(
      sql,
      agents,
      `WHERE ahead > 0 AND head_commit IS NOT NULL AND branch IS NOT NULL AND released_at IS NULL
       AND successor_name IS NULL AND worktree_kind <> 'root' ORDER BY started_at, id`,
    ),
  unseated: () => select(sql, agents, "WHERE worktree_path IS NULL AND state = 'booting' ORDER BY started_at, id"),
});

function conditions(filter: AgentFilter): { where: string; values: SqlValue[] } {
  const { add, equal, all } = conditionList();
  equal("name", filter.name);
  equal("run_id", filter.runId);
  equal("parent_name", filter.parentName);
  equal("task_id", filter.taskId);
  equal("branch", filter.branch);
  if (filter.branches !== undefined) add(`branch IN ${placeholders(filter.branches.length)}`, ...filter.branches);
  equal("capability", filter.capability);
  equal("env_file", filter.envFile);
  equal("outcome", filter.outcome);
  if (filter.live === true) add(live);
  if (filter.unreleased === true) add(`released_at IS NULL AND ${newest}`);
  return all();
}
