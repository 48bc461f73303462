import { Database } from "bun:sqlite";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Knowledge } from "./history.ts";
import { contentSum, processesBelow, type ScratchProject } from "./scratch-project.ts";

/**
 * The three promises, checked with git, SQLite, the file system and the ledgers alone: nothing of the program under test
 * is used. Each violation is one line.
 */
export async function brokenPromises(project: ScratchProject, knowledge: Knowledge): Promise<string[]> {
  return [
    ...knowledge.complaints,
    ...lostWork(project, knowledge),
    ...mailTrouble(project, knowledge),
    ...unprovenLandings(project, knowledge),
    ...touchedCheckout(project, knowledge),
    ...damage(project),
  ];
}

/** Every planted string must be in an object that a ref or a worktree's HEAD reaches, or in a file that we keep. */
export function lostWork(project: ScratchProject, { excused }: Knowledge): string[] {
  const found = new Set<string>();
  const collect = (text: string): void => {
    for (const [token] of text.matchAll(/PLANT\.[\w.-]+/g)) found.add(token);
  };
  collect(reachableText(project.root, ["--all"]));
  for (const dir of [join(project.root, ".overstory"), ...stateDirs(project)])
    if (existsSync(dir)) keptFiles(project, dir, collect);
  return project
    .ledger("planted")
    .map((line) => line.split(" "))
    .filter(([kind, agent, token]) => !found.has(token ?? "") && !(kind !== "commit" && excused.has(agent ?? "")))
    .filter(([kind, agent, token]) => kind !== "commit" || !excused.has(agent ?? "") || wasCommitted(project, token))
    .map(([kind, agent, token]) => `lost: ${kind} string ${token} of ${agent}`);
}

/** Whether the object database holds the string at all: a string that was only about to be committed was in a file. */
function wasCommitted(project: ScratchProject, token: string | undefined): boolean {
  return project.git(["log", "--all", "--reflog", "-S", token ?? "", "--format=%H"]).out !== "";
}

/** The content of all objects that these refs reach. */
function reachableText(repository: string, refs: readonly string[]): string {
  const git = (args: readonly string[], stdin?: Buffer): Buffer =>
    Bun.spawnSync(["git", ...args], { cwd: repository, maxBuffer: 1 << 28, ...(stdin === undefined ? {} : { stdin }) })
      .stdout;
  const objects = git(["rev-list", "--objects", ...refs])
    .toString("latin1")
    .split("\n");
  const ids = objects.map((line) => line.slice(0, 40)).filter((id) => id !== "");
  return git(["cat-file", "--batch"], Buffer.from(`${ids.join("\n")}\n`)).toString("latin1");
}

/** Where the program may keep its own files: beside the refs, or (in older projects) in the checkout. */
const stateDirs = (project: ScratchProject): string[] =>
  [join(project.root, ".git", "ov-state")].filter((dir) => existsSync(dir));

/** Logs, sockets and the database are no place where a person would find lost work. */
function keptFiles(project: ScratchProject, dir: string, collect: (text: string) => void): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "logs" && entry.name !== "run") keptFiles(project, path, collect);
    } else if (entry.name.endsWith(".bundle")) {
      collect(bundled(project, path));
    } else if (entry.isFile() && !entry.name.includes(".db") && statSync(path).size < 1 << 24) {
      collect(readFileSync(path, "latin1"));
    }
  }
}

/** Everything in a bundle, read into a repository of its own that may borrow what the project still has. */
function bundled(project: ScratchProject, bundle: string): string {
  const dir = mkdtempSync(join(tmpdir(), "ov-chaos-bundle-"));
  try {
    const git = (args: readonly string[]): void => {
      const { code, err } = project.git(args, dir);
      if (code !== 0) throw new Error(`git ${args.join(" ")}: ${err}`);
    };
    git(["clone", "--quiet", "--bare", "--shared", project.root, "copy"]);
    git(["-C", "copy", "fetch", "--quiet", bundle, "+refs/*:refs/bundled/*"]);
    return reachableText(join(dir, "copy"), ["--glob=refs/bundled/*"]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface DeliveryRow {
  readonly to_agent: string;
  readonly state: string;
  readonly body: string;
  readonly type: string;
}

/** Each message that was accepted is stored once, and has reached its reader once or is visibly waiting or dead. */
function mailTrouble(project: ScratchProject, knowledge: Knowledge): string[] {
  const database = openDatabase(project);
  try {
    const rows = database
      .query("SELECT m.body, m.type, d.to_agent, d.state FROM messages m JOIN deliveries d ON d.message_seq = m.seq")
      .all() as DeliveryRow[];
    const trouble: string[] = [];
    const accepted = [
      ...project.ledger("mail").map((line) => line.split(" ")[2] ?? ""),
      ...knowledge.sent.map(({ token }) => token),
    ];
    for (const token of accepted) {
      const originals = rows.filter(({ body }) => body.includes(token) && !body.includes("[forwarded: "));
      if (originals.length === 0) trouble.push(`mail: ${token} was accepted and is not stored`);
      if (originals.length > 1) trouble.push(`mail: ${token} is stored ${originals.length} times`);
    }
    for (const { body, to_agent, state } of rows)
      if (state === "claimed") trouble.push(`mail: still claimed by ${to_agent} at rest: ${body.slice(0, 60)}`);
    return [...trouble, ...doublePrompts(project, accepted), ...stuckMail(database)];
  } finally {
    database.close();
  }
}

/** A model may see a message a second time only with the mark that says so. */
function doublePrompts(project: ScratchProject, tokens: readonly string[]): string[] {
  const state = join(project.base, "state");
  const prompts = (existsSync(state) ? readdirSync(state) : []).flatMap((agent) => {
    const file = join(state, agent, "inputs.ndjson");
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => ({ agent, text: (JSON.parse(line) as { text: string }).text }));
  });
  return tokens.flatMap((token) => {
    const seen = prompts.filter(({ text }) => text.includes(token));
    const plain = seen.filter(({ text }) => !text.includes("redelivered") && !text.includes("[forwarded: "));
    return plain.length > 1 ? [`mail: ${token} was prompted ${plain.length} times without the mark`] : [];
  });
}

/** Paused by the operator, or waiting for money or for a limit to lift. */
const parked = (name: string): string =>
  `EXISTS (SELECT 1 FROM waits w WHERE w.agent_name = ${name} AND w.kind IN ('operator', 'budget', 'rate_limit'))`;

/** Nobody who could answer now may be left with mail that asks for a turn. */
function stuckMail(database: Database): string[] {
  const rows = database
    .query(
      `SELECT a.name, m.type, m.body FROM deliveries d JOIN messages m ON m.seq = d.message_seq
       JOIN agents a ON a.name = d.to_agent AND a.state = 'between_turns'
       WHERE d.state = 'queued' AND m.type IN ('question', 'dispatch', 'assign')
         AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.agent_id = a.id AND t.status IN ('queued', 'running'))
         AND NOT ${parked("a.name")}`,
    )
    .all() as { name: string; type: string; body: string }[];
  return rows.map(
    ({ name, type, body }) => `mail: ${type} for ${name} waits and no turn is queued: ${body.slice(0, 60)}`,
  );
}

/** Every commit that a landing branch or the user's branch ever pointed to passed the gate on exactly its content. */
function unprovenLandings(project: ScratchProject, { usersCommits }: Knowledge): string[] {
  const passed = new Set(
    project.ledger("gates").flatMap((line) => (line.endsWith(" pass") ? [line.slice(0, -" pass".length)] : [])),
  );
  const refs = project
    .git(["for-each-ref", "--format=%(refname)", "refs/heads/main", "refs/heads/overstory/integration"])
    .out.split("\n")
    .filter((ref) => ref !== "");
  const tips = new Set(
    refs.flatMap((ref) => [
      project.git(["rev-parse", ref]).out.trim(),
      ...project.git(["reflog", "show", "--format=%H", ref]).out.split("\n"),
    ]),
  );
  return [...tips]
    .filter((tip) => tip !== "" && !usersCommits.has(tip))
    .filter((tip) => !passed.has(contentOf(project, tip)))
    .map((tip) => `unproven: ${tip} ${project.git(["log", "-1", "--format=%s", tip]).out.trim()}`);
}

function contentOf(project: ScratchProject, commit: string): string {
  const dir = mkdtempSync(join(tmpdir(), "ov-chaos-tree-"));
  try {
    const script = `git -C "${project.root}" archive ${commit} | tar -x -C "${dir}" && cd "${dir}" && ${contentSum}`;
    return Bun.spawnSync(["sh", "-c", script]).stdout.toString().trim();
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The user's files are the user's, and nothing else differs from the branch that is checked out. */
function touchedCheckout(project: ScratchProject, { usersFiles, usersCommits, checkedOut }: Knowledge): string[] {
  const trouble: string[] = [];
  const head = project.git(["symbolic-ref", "--short", "HEAD"]).out.trim();
  if (head !== checkedOut) trouble.push(`checkout: HEAD is ${head}, the user left it at ${checkedOut}`);
  for (const [name, text] of usersFiles) {
    const path = join(project.root, name);
    if (!existsSync(path)) trouble.push(`checkout: ${name} of the user is gone`);
    else if (readFileSync(path, "utf8") !== text) trouble.push(`checkout: ${name} of the user was changed`);
  }
  const changed = project
    .git(["status", "--porcelain", "--untracked-files=all"])
    .out.split("\n")
    .filter((line) => line !== "" && !usersFiles.has(line.slice(3)));
  if (changed.length > 0) trouble.push(`checkout: not the user's: ${changed.slice(0, 10).join(" | ")}`);
  for (const commit of usersCommits)
    if (project.git(["branch", "--all", "--contains", commit]).out === "")
      trouble.push(`checkout: user's commit ${commit} is in no branch`);
  return trouble;
}

/** Broken databases, git objects and processes that nobody needs any more. */
function damage(project: ScratchProject): string[] {
  const trouble: string[] = [];
  const fsck = project.git(["fsck", "--full", "--no-dangling"]);
  if (fsck.code !== 0) trouble.push(`git fsck: ${fsck.out}${fsck.err}`.slice(0, 500));
  const database = openDatabase(project);
  try {
    const [row] = database.query("PRAGMA integrity_check").all() as { integrity_check: string }[];
    if (row?.integrity_check !== "ok") trouble.push(`database: ${row?.integrity_check}`);
  } finally {
    database.close();
  }
  return trouble;
}

export function openDatabase(project: ScratchProject): Database {
  const [place] = [join(project.root, ".git", "ov-state"), join(project.root, ".overstory")].filter((dir) =>
    existsSync(join(dir, "overstory.db")),
  );
  if (place === undefined) throw new Error("there is no database any more");
  const database = new Database(join(place, "overstory.db"), { readonly: true });
  // A process that was killed while it wrote leaves a log that the first reader recovers; the others wait for it.
  database.run("PRAGMA busy_timeout = 10000");
  return database;
}

/** Waits until no turn runs or is due, no merge is on its way and only services are left; says what still goes on. */
export async function restlessness(project: ScratchProject, timeoutMs: number): Promise<string[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    // A command that sees due work starts an engine where none is left.
    await project.ov(["status"]);
    const left = unsettled(project);
    if (left.length === 0) return [];
    if (performance.now() > deadline)
      return [
        `not at rest: ${left.join("; ")}; processes: ${processesBelow(project.base)
          .map(({ words }) => words.slice(0, 60))
          .join(" | ")}`,
      ];
    await Bun.sleep(250);
  }
}

function unsettled(project: ScratchProject): string[] {
  const database = openDatabase(project);
  try {
    const turns = database
      .query(
        `SELECT agent_name AS name, status FROM turns t
         WHERE status = 'running' OR (status = 'queued' AND not_before < ? AND NOT ${parked("t.agent_name")})`,
      )
      .all(Date.now() + 1_000) as { name: string; status: string }[];
    const seats = database.query("SELECT name FROM agents WHERE state = 'booting' AND worktree_path IS NULL").all() as {
      name: string;
    }[];
    return [
      ...turns.map(({ name, status }) => `turn of ${name} ${status}`),
      ...seats.map(({ name }) => `${name} has no seat`),
    ];
  } finally {
    database.close();
  }
}
