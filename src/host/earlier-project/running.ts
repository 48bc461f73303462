import type { Database } from "bun:sqlite";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EarlierProcess } from "../../domain/earlier/earlier-project.ts";
import { statIfThere } from "../file-access.ts";
import { markedAsGate } from "../linux/mark.ts";
import { ageMs, identityOf } from "../linux/process-table.ts";

/** Processes and terminals of an earlier project that live. */
export async function runningOf(dir: string, sessions: Database | undefined): Promise<readonly EarlierProcess[]> {
  const rows = sessions === undefined ? [] : liveSessions(sessions);
  const agents = rows.flatMap(({ name, pid, since }) => (pid === null ? [] : alive(`the agent ${name}`, pid, since)));
  const terminals: EarlierProcess[] = [];
  for (const { name, tmux } of rows) {
    if (tmux !== "" && (await hasTerminal(tmux))) {
      terminals.push({ what: `the agent ${name} in tmux`, end: `tmux kill-session -t '=${tmux.replaceAll("'", "")}'` });
    }
  }
  return [...agents, ...terminals, ...pidFiles(dir)];
}

interface LiveSession {
  readonly name: string;
  readonly pid: number | null;
  readonly tmux: string;
  readonly since: number;
}

function liveSessions(database: Database): readonly LiveSession[] {
  const hasTable = database.query("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").get() !== null;
  if (!hasTable) return [];
  const rows = database.query("SELECT * FROM sessions WHERE state NOT IN ('completed', 'zombie')").all();
  return (rows as Record<string, unknown>[]).map((row) => ({
    name: String(row.agent_name),
    pid: typeof row.pid === "number" ? row.pid : null,
    tmux: typeof row.tmux_session === "string" ? row.tmux_session : "",
    since: Date.parse(String(row.last_activity ?? row.started_at)),
  }));
}

/** Pids are used again: a process that began after the last sign of its row is another one. */
function alive(what: string, pid: number, lastSign: number): readonly EarlierProcess[] {
  const identity = Number.isSafeInteger(pid) && pid > 1 ? identityOf(pid) : undefined;
  if (identity === undefined) return [];
  const began = Date.now() - ageMs(identity);
  const isAnother = !Number.isNaN(lastSign) && began > lastSign + toleranceMs;
  return isAnother ? [] : [{ what: `${what} (pid ${pid})`, end: `kill ${pid}` }];
}

const toleranceMs = 60_000;

/** The watchdog, and turns that are on their way. The file is as old as its process. */
function pidFiles(dir: string): readonly EarlierProcess[] {
  const agents = statIfThere(join(dir, "agents"))?.isDirectory() === true ? readdirSync(join(dir, "agents")) : [];
  const files = [
    { what: "the watchdog", path: join(dir, "watchdog.pid") },
    ...agents.map((name) => ({ what: `a turn of ${name}`, path: join(dir, "agents", name, "turn.pid") })),
  ];
  return files.flatMap(({ what, path }) => {
    const found = statIfThere(path);
    if (found?.isFile() !== true) return [];
    const pid = /\d+/.exec(readFileSync(path, "utf8"))?.[0];
    return pid === undefined ? [] : alive(what, Number(pid), found.mtimeMs);
  });
}

async function hasTerminal(session: string): Promise<boolean> {
  if (Bun.which("tmux") === null) return false;
  const asked = Bun.spawn({
    cmd: markedAsGate(["tmux", "has-session", "-t", `=${session}`]),
    stdio: ["ignore", "ignore", "ignore"],
    timeout: 5_000,
  });
  return (await asked.exited) === 0;
}
