import type { Database } from "bun:sqlite";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EarlierPart, EarlierRow } from "../../domain/earlier/earlier-project.ts";
import { branchName } from "../../domain/name/name.ts";
import { no, ok } from "../../domain/result.ts";
import type { EarlierProject, OpenedEarlier } from "../../ports/earlier-project.ts";
import { statIfThere } from "../file-access.ts";
import { git } from "../git/git.ts";
import { directoryIdentity } from "../git/places.ts";
import { sharedDir } from "../project-place.ts";
import { earlierDatabases, earlierTables, openCopy, rowsOf, shapeProblem, type TableRows } from "./databases.ts";
import { fileRows } from "./files.ts";
import { runningOf } from "./running.ts";

export interface EarlierTerms {
  readonly root: string;
  /** Where work lands when the earlier project does not say it. */
  readonly canonicalBranch: string;
}

export const earlierProject = ({ root, canonicalBranch }: EarlierTerms): EarlierProject => ({
  open: async () => {
    const dir = sharedDir(root);
    const scratch = mkdtempSync(join(tmpdir(), "ov-import-"));
    const opened = new Map<string, Database>();
    const close = (): void => {
      for (const database of opened.values()) database.close();
      rmSync(scratch, { recursive: true, force: true });
    };
    for (const file of earlierDatabases.filter((name) => existsSync(join(dir, name)))) {
      const database = openCopy(dir, scratch, file);
      opened.set(file, database);
      const problem = shapeProblem(database, file);
      if (problem === undefined) continue;
      close();
      return no({ kind: "not-importable", why: problem, next: `put .overstory/${file} aside, and type: ov import` });
    }
    const tables = new Map(
      earlierTables.flatMap((table): readonly (readonly [EarlierPart, TableRows])[] => {
        const database = opened.get(table.file);
        const rows = database === undefined ? undefined : rowsOf(database, table);
        return rows === undefined ? [] : [[table.part, rows]];
      }),
    );
    for (const [part, rows] of fileRows(root)) tables.set(part, listed(rows));
    const targetBranch = branchIn(dir);
    const facts = makeBranchFacts(root, targetBranch ?? canonicalBranch);
    return ok({
      parts: new Map([...tables].map(([part, rows]) => [part, rows.count(0)])),
      targetBranch,
      running: () => runningOf(dir, opened.get("sessions.db")),
      countAfter: (part, place) => tables.get(part)?.count(place) ?? 0,
      after: async (part, place, limit) => {
        const rows = tables.get(part)?.after(place, limit) ?? [];
        if (part === "runs") return rows.map((row) => withLastSign(row, opened.get("sessions.db")));
        if (part !== "agents" && part !== "merges") return rows;
        const known: EarlierRow[] = [];
        for (const row of rows) known.push(await facts(row));
        return known;
      },
      remarks: () => remarksOf(root, opened.get("sessions.db")),
      [Symbol.asyncDispose]: async () => close(),
    } satisfies OpenedEarlier);
  },
});

/** A run that was never ended was worked on until the last sign of its agents. */
function withLastSign(row: EarlierRow, sessions: Database | undefined): EarlierRow {
  const { id = null } = row.values ?? {};
  const hasAgents = sessions?.query("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").get() != null;
  if (!hasAgents || typeof id !== "string") return row;
  const found = sessions?.query("SELECT max(last_activity) AS at FROM sessions WHERE run_id = ?").get(id);
  return { ...row, values: { ...row.values, "!last": (found as { at: string | null }).at } };
}

const listed = (rows: readonly EarlierRow[]): TableRows => ({
  count: (place) => rows.filter(({ row }) => row > place).length,
  after: (place, limit) => rows.filter(({ row }) => row > place).slice(0, limit),
});

/** The branch on which the person was whose session the earlier version was started from. */
function branchIn(dir: string): string | undefined {
  const file = join(dir, "session-branch.txt");
  const named = statIfThere(file)?.isFile() === true ? readFileSync(file, "utf8").trim() : "";
  return named !== "" && branchName.fits(named) ? named : undefined;
}

/** Adds to a row the tip of its branch, the commit it began at, and whether its worktree exists. */
function makeBranchFacts(root: string, target: string): (row: EarlierRow) => Promise<EarlierRow> {
  return async (row) => {
    const { values } = row;
    const branch = values?.branch_name;
    if (values === undefined || typeof branch !== "string" || !branchName.fits(branch)) return row;
    const head = await ask(root, "rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`);
    if (head === undefined) return row;
    const base = await ask(root, "merge-base", `refs/heads/${target}`, head);
    const ahead = base === undefined ? "0" : await ask(root, "rev-list", "--count", `${base}..${head}`);
    const path = values.worktree_path;
    const isOwn = branch.startsWith("overstory/");
    const isThere = isOwn && typeof path === "string" && (await isWorktree(root, path, branch));
    const seat = isThere ? { "!identity": directoryIdentity(path) } : {};
    return {
      ...row,
      values: { ...values, ...seat, "!head": head, "!base": base ?? null, "!ahead": Number(ahead ?? 0) },
    };
  };
}

async function isWorktree(root: string, path: string, branch: string): Promise<boolean> {
  if (statIfThere(path)?.isDirectory() !== true) return false;
  const records = (await git(root, "worktree", "list", "--porcelain")).out.split("\n\n");
  return records.some((record) => {
    const lines = record.split("\n");
    return lines.includes(`worktree ${path}`) && lines.includes(`branch refs/heads/${branch}`);
  });
}

async function ask(root: string, ...args: string[]): Promise<string | undefined> {
  const { code, out } = await git(root, ...args);
  return code === 0 ? out.trim() : undefined;
}

/** What a person should know and no row holds. */
async function remarksOf(root: string, sessions: Database | undefined): Promise<readonly string[]> {
  return [...(await editedRoles(root)), ...oldHooks(root), ...(await strayBranches(root, sessions))];
}

/** The first committed version of a role text is the shipped one; later versions have people's edits. */
async function editedRoles(root: string): Promise<readonly string[]> {
  const dir = join(sharedDir(root), "agent-defs");
  const files = statIfThere(dir)?.isDirectory() === true ? readdirSync(dir).toSorted() : [];
  const remarks: string[] = [];
  for (const file of files.filter((name) => name.endsWith(".md") && !name.endsWith(".local.md"))) {
    const text = readFileSync(join(dir, file), "utf8");
    if (text.startsWith("<!-- overstory:role ")) continue;
    const path = `.overstory/agent-defs/${file}`;
    const log = await git(root, "log", "--reverse", "--format=%H", "--diff-filter=A", "--", path);
    const first = log.out.split("\n")[0] ?? "";
    const shipped = first === "" ? undefined : await git(root, "show", `${first}:${path}`);
    if (shipped === undefined || shipped.code !== 0 || shipped.out.trimEnd() === text.trimEnd()) continue;
    const local = path.replace(/\.md$/, ".local.md");
    remarks.push(
      `${path} was edited and does not count any more; see your words with: git diff ${first.slice(0, 10)} -- ${path}, and put those that still hold into ${local}`,
    );
  }
  return remarks;
}

/** Entries of the earlier version in the settings of a person's own sessions. */
function oldHooks(root: string): readonly string[] {
  const path = ".claude/settings.local.json";
  const file = join(root, path);
  const text = statIfThere(file)?.isFile() === true ? readFileSync(file, "utf8") : "";
  if (!/ov (?:log|prime|mail check)[^"]*--agent orchestrator/.test(text)) return [];
  return [
    `${path} has hooks of the earlier version, which still work; have ours instead: take them out, and type: ov hooks install`,
  ];
}

async function strayBranches(root: string, sessions: Database | undefined): Promise<readonly string[]> {
  const listed = await git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads/overstory/");
  const branches = listed.out.split("\n").filter((name) => name !== "");
  const known = new Set(sessions === undefined ? [] : branchesIn(sessions));
  const strays = branches.filter((branch) => !known.has(branch));
  return strays.length === 0 ? [] : [`branches of no agent stay as they are: ${strays.join(", ")}`];
}

function branchesIn(sessions: Database): readonly string[] {
  if (sessions.query("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").get() === null) return [];
  return (sessions.query("SELECT branch_name FROM sessions").all() as { branch_name: string }[]).map(
    ({ branch_name: name }) => name,
  );
}
