import { Database } from "bun:sqlite";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "./project.ts";

/** How many rows each part of the project below has. */
export const earlierCounts = {
  "sessions.db runs": 2,
  "sessions.db sessions": 5,
  "agents/*/identity.yaml": 1,
  "agents/*/checkpoint.json": 1,
  ".seeds/issues.jsonl": 4,
  ".beads/*.jsonl": 2,
  "groups.json": 1,
  "mail.db messages": 5,
  "merge-queue.db merge_queue": 3,
  "metrics.db sessions": 2,
  "metrics.db token_snapshots": 2,
  "events.db events": 7,
} as const;

const at = (minute: number): string => `2026-10-01T10:${String(minute).padStart(2, "0")}:00.000Z`;

/** Puts a project as version 0.11 left it into a repository: databases, files, branches and a worktree. */
export async function plantEarlierProject(project: TestProject): Promise<{ close(): void }> {
  const { root } = project;
  const dir = join(root, ".overstory");
  const write = (path: string, text: string): void => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  mkdirSync(join(dir, "worktrees"), { recursive: true });
  write(".overstory/config.yaml", config(root));
  write(".overstory/.gitignore", "*\n!.gitignore\n!config.yaml\n!groups.json\n!agent-defs/\n!agent-defs/**\n");
  write(".overstory/agent-defs/builder.md", "# Builder\n\nAs shipped.\n");
  write(".overstory/groups.json", JSON.stringify([group]));
  write(".seeds/config.yaml", "project: demo\nversion: 1\n");
  write(".seeds/issues.jsonl", seeds.map((line) => `${JSON.stringify(line)}\n`).join(""));
  write(".beads/issues.jsonl", beads.map((line) => `${JSON.stringify(line)}\n`).join(""));
  await project.git("add", "-A");
  await project.git("commit", "-qm", "chore: initialise overstory");
  write(".overstory/agent-defs/builder.md", "# Builder\n\nAs shipped.\n\nAlways write in Esperanto.\n");
  write(".overstory/agents/b1/identity.yaml", identity);
  write(".overstory/agents/b1/checkpoint.json", JSON.stringify(checkpoint));
  const worktree = join(dir, "worktrees", "b1");
  await project.git("worktree", "add", "-q", "-b", "overstory/b1/demo-1", worktree);
  writeFileSync(join(worktree, "b1.txt"), "work of b1\n");
  await project.git("-C", worktree, "add", "b1.txt");
  await project.git("-C", worktree, "commit", "-qm", "work of b1");
  await project.git("branch", "overstory/b2/demo-2", "overstory/b1/demo-1");
  await project.git("branch", "overstory/nobody/x");
  const opened = [sessions(dir, root), mail(dir), events(dir), metrics(dir), queue(dir)];
  return {
    close: () => {
      for (const database of opened) database.close();
    },
  };
}

const config = (root: string): string => `project:
  name: demo
  root: ${root}
  canonicalBranch: main
  qualityGates: []
agents:
  manifestPath: .overstory/agent-manifest.json
  baseDir: .overstory/agent-defs
  maxConcurrent: 25
  staggerDelayMs: 2000
  maxDepth: 2
  maxSessionsPerRun: 0
  maxAgentsPerLead: 5
worktrees:
  baseDir: .overstory/worktrees
taskTracker:
  backend: auto
  enabled: true
mulch:
  enabled: true
  domains: []
  primeFormat: markdown
merge:
  aiResolveEnabled: true
  reimagineEnabled: false
providers:
  anthropic:
    type: native
watchdog:
  tier0Enabled: true
  tier0IntervalMs: 30000
  tier1Enabled: false
  tier2Enabled: false
  staleThresholdMs: 300000
  zombieThresholdMs: 600000
  nudgeIntervalMs: 60000
models: {}
logging:
  verbose: false
  redactSecrets: true
runtime:
  default: scripted
  claudeHeadlessByDefault: true
`;

const group = {
  id: "group-12345678",
  name: "first",
  memberIssueIds: ["demo-1", "demo-2"],
  status: "active",
  createdAt: at(0),
  completedAt: null,
};
const task = { type: "task", priority: 2, createdAt: at(0), updatedAt: at(0) };
const seeds = [
  { ...task, id: "demo-1", title: "First", status: "in_progress" },
  { ...task, id: "demo-2", title: "Second", status: "open", blockedBy: ["demo-1"] },
  { ...task, id: "demo-3", title: "Third", status: "closed", closedAt: at(9), closeReason: "done", updatedAt: at(9) },
  { ...task, id: "demo-3", title: "Third before", status: "open" },
];
const bead = { priority: 1, issue_type: "bug", created_at: at(0), updated_at: at(0) };
const beads = [
  { ...bead, id: "bd-1", title: "A bead", status: "open" },
  {
    ...bead,
    id: "bd-2",
    title: "Another",
    status: "closed",
    dependencies: [{ depends_on_id: "bd-1", type: "blocks" }],
  },
];
const identity = `name: b1
capability: builder
created: "${at(0)}"
sessionsCompleted: 3
expertiseDomains: []
recentTasks:
  - taskId: demo-1
    summary: "First"
    completedAt: "${at(5)}"
`;
const checkpoint = {
  agentName: "b1",
  taskId: "demo-1",
  sessionId: "session-1-b1",
  timestamp: at(6),
  progressSummary: "half of it",
  filesModified: ["b1.txt"],
  currentBranch: "overstory/b1/demo-1",
  pendingWork: "the other half",
  mulchDomains: [],
};

/** In WAL mode, and left open by the caller, so that the rows are in the log and not in the file. */
function database(dir: string, name: string, schema: string): Database {
  const made = new Database(join(dir, name));
  made.run("PRAGMA journal_mode = WAL");
  made.run("PRAGMA wal_autocheckpoint = 0");
  made.run(schema);
  return made;
}

function fill(into: Database, table: string, rows: readonly Readonly<Record<string, string | number | null>>[]): void {
  for (const row of rows) {
    const columns = Object.keys(row);
    into.run(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      Object.values(row),
    );
  }
}

function sessions(dir: string, root: string): Database {
  const made = database(
    dir,
    "sessions.db",
    `CREATE TABLE sessions (id TEXT PRIMARY KEY, agent_name TEXT NOT NULL UNIQUE, capability TEXT NOT NULL,
       worktree_path TEXT NOT NULL, branch_name TEXT NOT NULL, task_id TEXT NOT NULL, tmux_session TEXT NOT NULL,
       state TEXT NOT NULL DEFAULT 'booting', pid INTEGER, parent_agent TEXT, depth INTEGER NOT NULL DEFAULT 0,
       run_id TEXT, started_at TEXT NOT NULL, last_activity TEXT NOT NULL, escalation_level INTEGER NOT NULL DEFAULT 0,
       stalled_since TEXT, transcript_path TEXT, prompt_version TEXT, claude_session_id TEXT)`,
  );
  made.run(
    `CREATE TABLE runs (id TEXT PRIMARY KEY, started_at TEXT NOT NULL, completed_at TEXT, agent_count INTEGER DEFAULT 0,
       coordinator_session_id TEXT, coordinator_name TEXT, status TEXT NOT NULL DEFAULT 'active')`,
  );
  fill(made, "runs", [
    { id: "run-a", started_at: at(0), completed_at: at(9), coordinator_name: "coordinator", status: "completed" },
    { id: "run-b", started_at: at(10), completed_at: null, coordinator_name: null, status: "active" },
  ]);
  const agent = (name: string, task: string, more: Record<string, string | number | null>) => ({
    id: `session-1-${name}`,
    agent_name: name,
    capability: "builder",
    worktree_path: join(dir, "worktrees", name),
    branch_name: `overstory/${name}/${task}`,
    task_id: task,
    tmux_session: "",
    state: "completed",
    pid: null,
    parent_agent: "lead1",
    depth: 2,
    run_id: "run-a",
    started_at: at(1),
    last_activity: at(6),
    claude_session_id: null,
    ...more,
  });
  const atRoot = { worktree_path: root, branch_name: "main", parent_agent: null, depth: 0 };
  fill(made, "sessions", [
    agent("coordinator", "", { ...atRoot, capability: "coordinator" }),
    agent("lead1", "demo-1", { capability: "lead", parent_agent: "coordinator", depth: 1 }),
    agent("b1", "demo-1", { state: "between_turns", claude_session_id: "conversation-1" }),
    agent("b2", "demo-2", { state: "zombie", run_id: "run-b" }),
    agent("s1", "demo-2", { capability: "scout", run_id: null }),
  ]);
  return made;
}

function mail(dir: string): Database {
  const made = database(
    dir,
    "mail.db",
    `CREATE TABLE messages (id TEXT PRIMARY KEY, from_agent TEXT NOT NULL, to_agent TEXT NOT NULL, subject TEXT NOT NULL,
       body TEXT NOT NULL, type TEXT NOT NULL DEFAULT 'status', priority TEXT NOT NULL DEFAULT 'normal', thread_id TEXT,
       payload TEXT, read INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL)`,
  );
  const message = { type: "status", priority: "normal", thread_id: null, payload: null, read: 1, created_at: at(2) };
  fill(made, "messages", [
    { ...message, id: "msg-1", from_agent: "lead1", to_agent: "b1", subject: "Go", body: "do it", type: "dispatch" },
    {
      ...message,
      id: "msg-2",
      from_agent: "b1",
      to_agent: "lead1",
      subject: "Re: Go",
      body: "yes",
      thread_id: "msg-1",
    },
    { ...message, id: "msg-3", from_agent: "b1", to_agent: "lead1", subject: "Done", body: "d", type: "worker_done" },
    { ...message, id: "msg-4", from_agent: "lead1", to_agent: "orchestrator", subject: "News", body: "n", read: 0 },
    { ...message, id: "msg-5", from_agent: "b2", to_agent: "lead1", subject: "Late", body: "l", read: 0 },
  ]);
  return made;
}

function events(dir: string): Database {
  const made = database(
    dir,
    "events.db",
    `CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, agent_name TEXT NOT NULL, session_id TEXT,
       event_type TEXT NOT NULL, tool_name TEXT, tool_args TEXT, tool_duration_ms INTEGER,
       level TEXT NOT NULL DEFAULT 'info', data TEXT, created_at TEXT NOT NULL)`,
  );
  const event = { run_id: "run-a", agent_name: "b1", session_id: "s", tool_name: null, level: "info", data: null };
  // Without a zone, as the earlier version wrote it.
  const time = "2026-10-01T10:03:00.000";
  const args = JSON.stringify({ file_path: "b1.txt" });
  const summary = JSON.stringify({ summary: "write: b1.txt" });
  fill(made, "events", [
    { ...event, event_type: "session_start", created_at: time },
    { ...event, event_type: "tool_start", tool_name: "Write", tool_args: args, data: summary, created_at: time },
    { ...event, event_type: "tool_end", tool_name: "Write", tool_duration_ms: 40, created_at: time },
    {
      ...event,
      event_type: "mail_sent",
      data: JSON.stringify({ to: "lead1", subject: "Done", type: "worker_done" }),
      created_at: time,
    },
    { ...event, event_type: "error", level: "error", data: JSON.stringify({ message: "it broke" }), created_at: time },
    { ...event, run_id: null, event_type: "custom", data: "no json", created_at: time },
    { ...event, event_type: "session_end", created_at: "2026-10-01T10:06:00.000" },
  ]);
  return made;
}

function metrics(dir: string): Database {
  const tokens = `input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0, cache_creation_tokens INTEGER NOT NULL DEFAULT 0,
    estimated_cost_usd REAL, model_used TEXT, run_id TEXT`;
  const made = database(
    dir,
    "metrics.db",
    `CREATE TABLE sessions (agent_name TEXT NOT NULL, task_id TEXT NOT NULL, capability TEXT NOT NULL,
       started_at TEXT NOT NULL, completed_at TEXT, duration_ms INTEGER NOT NULL DEFAULT 0, exit_code INTEGER,
       merge_result TEXT, parent_agent TEXT, ${tokens}, PRIMARY KEY (agent_name, task_id))`,
  );
  made.run(
    `CREATE TABLE token_snapshots (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_name TEXT NOT NULL, ${tokens},
       created_at TEXT NOT NULL)`,
  );
  const used = { cache_read_tokens: 30, cache_creation_tokens: 4, model_used: "claude-sonnet-4", run_id: null };
  const times = { started_at: at(1), completed_at: at(6), duration_ms: 300_000 };
  fill(made, "sessions", [
    {
      ...used,
      ...times,
      agent_name: "b1",
      task_id: "demo-1",
      capability: "builder",
      input_tokens: 1000,
      output_tokens: 200,
      estimated_cost_usd: 0.5,
    },
    {
      ...used,
      ...times,
      agent_name: "lead1",
      task_id: "demo-1",
      capability: "lead",
      input_tokens: 10,
      output_tokens: 2,
      estimated_cost_usd: null,
    },
  ]);
  fill(made, "token_snapshots", [
    { ...used, agent_name: "b2", input_tokens: 5, output_tokens: 1, estimated_cost_usd: 0.01, created_at: at(2) },
    { ...used, agent_name: "b2", input_tokens: 50, output_tokens: 10, estimated_cost_usd: 0.25, created_at: at(4) },
  ]);
  return made;
}

function queue(dir: string): Database {
  const made = database(
    dir,
    "merge-queue.db",
    `CREATE TABLE merge_queue (id INTEGER PRIMARY KEY AUTOINCREMENT, branch_name TEXT NOT NULL, task_id TEXT NOT NULL,
       agent_name TEXT NOT NULL, files_modified TEXT NOT NULL DEFAULT '[]', enqueued_at TEXT NOT NULL,
       status TEXT NOT NULL DEFAULT 'pending', resolved_tier TEXT)`,
  );
  const entry = { task_id: "demo-1", agent_name: "b1", files_modified: '["b1.txt"]', enqueued_at: at(7) };
  fill(made, "merge_queue", [
    { ...entry, branch_name: "overstory/b1/demo-1", status: "pending", resolved_tier: null },
    { ...entry, branch_name: "overstory/b0/demo-0", agent_name: "b0", status: "merged", resolved_tier: "auto-resolve" },
    { ...entry, branch_name: "overstory/gone/x", agent_name: "gone", status: "pending", resolved_tier: null },
  ]);
  return made;
}
