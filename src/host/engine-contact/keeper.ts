import { existsSync, linkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { Processes } from "../../ports/process.ts";
import { makeWithin, readText, writeAtomically } from "../file-access.ts";
import { ageMs, killOne } from "../linux/process-table.ts";

/**
 * The keeper: a shell that starts the engine again unless it left on purpose (exit 0). It gives up after twenty quick
 * failures in a row, since an engine that cannot start will not start by trying.
 */
const loop = `
now() { if read -r up _ </proc/uptime; then up=\${up%%.*}; else up=$(date +%s); fi; } 2>/dev/null
fails=0
while :; do
  now; began=$up
  "$@"
  [ $? -eq 0 ] && exit 0
  now; [ $((up - began)) -gt 10 ] && fails=0
  fails=$((fails + 1))
  [ $fails -gt 20 ] && exit 1
  [ $fails -gt 3 ] && sleep 1
done`;

/** Waits for the end of an engine it did not start: a line says that it left on purpose, end of input that it died. */
const adopt = `read -r _ && exit 0; exec </dev/null
${loop}`;

export interface KeeperOptions {
  readonly state: string;
  /** The command line of the engine. */
  readonly engine: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly processes: Processes;
  /** A confined process sees neither the engine's process nor the state directory. It believes the notice. */
  readonly isConfined?: boolean;
}

/** Starts a keeper with an engine, unless one is alive. Of twenty callers one starts it. */
export function startKeeper(options: KeeperOptions): void {
  const { keeper } = enginePaths(options.state);
  startOnce(options, keeper, ["/bin/sh", "-c", loop, "ov-keeper", ...options.engine], () => keeperIsAlive(options));
}

/**
 * Starts a successor beside an engine that does not answer or cannot be reached. The successor watches the engine, and
 * replaces it or leaves. It gets a keeper only when it has replaced the engine.
 */
export function startSuccessor(options: KeeperOptions): void {
  const { successor } = enginePaths(options.state);
  startOnce(options, successor, options.engine, () => successorIsAlive(options));
}

/** A successor that has watched for so long may be stopped itself, and no longer counts. */
export function successorIsAlive({ state, processes }: Pick<KeeperOptions, "state" | "processes">): boolean {
  const successor = readIdentity(enginePaths(state).successor);
  return successor !== undefined && processes.check(successor) === "alive" && ageMs(successor) < longestLookMs;
}

const longestLookMs = 120_000;

/** Starts the command and records its identity at `record`, unless one runs already. */
function startOnce(options: KeeperOptions, record: string, command: readonly string[], isThere: () => boolean): void {
  const paths = enginePaths(options.state);
  const { processes, env } = options;
  // The project was moved away: start nothing and make no directory here.
  if (!existsSync(options.state)) return;
  makeWithin(paths.run, 1);
  if (isThere() || !takeLock(paths.lock, processes)) return;
  try {
    if (isThere()) return;
    const pid = processes.startDetached(command, { env, logFile: join(paths.run, "engine.log") });
    recordProcess(options, record, pid);
  } finally {
    rmSync(paths.lock, { force: true });
  }
}

/** Starts a keeper that watches the engine we are. The returned stream must be kept: its end means our death. */
export function adoptKeeper(options: KeeperOptions): Bun.FileSink {
  const log = Bun.file(join(enginePaths(options.state).run, "engine.log"));
  const child = Bun.spawn({
    cmd: ["/bin/sh", "-c", adopt, "ov-keeper", ...options.engine],
    env: { ...options.env },
    cwd: "/",
    stdio: ["pipe", log, log],
    detached: true,
  });
  child.unref();
  recordProcess(options, enginePaths(options.state).keeper, child.pid);
  return child.stdin;
}

export function keeperIsAlive({ state, processes }: Pick<KeeperOptions, "state" | "processes">): boolean {
  const keeper = readIdentity(enginePaths(state).keeper);
  return keeper !== undefined && processes.check(keeper) === "alive";
}

/** Between its start and its record a keeper is known only by the lock of the process that starts it. */
export function keeperIsStarting({ state, processes }: Pick<KeeperOptions, "state" | "processes">): boolean {
  const starter = readIdentity(enginePaths(state).lock);
  return starter !== undefined && processes.check(starter) === "alive";
}

/** Kills an engine and its keeper: the keeper first, because it would start the engine again. Our own keeper stays. */
export function killEngine(state: string, engine: ProcessIdentity): void {
  const { keeper: path, notice } = enginePaths(state);
  const keeper = readIdentity(path);
  if (keeper !== undefined && keeper.pid !== process.ppid) {
    killOne(keeper);
    rmSync(path, { force: true });
  }
  killOne(engine);
  rmSync(notice, { force: true });
}

export function forgetKeeper(state: string): void {
  rmSync(enginePaths(state).keeper, { force: true });
}

function recordProcess({ processes }: KeeperOptions, path: string, pid: number): void {
  const identity = processes.identify(pid);
  if (identity !== undefined) writeAtomically(path, JSON.stringify(identity), 0o600);
}

/**
 * The lock spares the others a needless start; that only one engine works is the store's lease to guarantee. So a lock
 * whose owner died may be broken without ceremony.
 */
function takeLock(path: string, processes: Processes): boolean {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, JSON.stringify(processes.self()), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 2; attempt++) {
      try {
        linkSync(mine, path);
        return true;
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      }
      const owner = readIdentity(path);
      if (owner !== undefined && processes.check(owner) !== "gone") return false;
      rmSync(path, { force: true });
    }
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

/** The identity in a small JSON file; undefined when the file is absent or half a file of a dead writer. */
export function readIdentity(path: string): ProcessIdentity | undefined {
  try {
    const { pid, startToken, bootId } = JSON.parse(readText(path) ?? "{}");
    if (typeof pid !== "number" || typeof startToken !== "string" || typeof bootId !== "string") return undefined;
    return { pid, startToken, bootId };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Unix socket paths have room for about 100 bytes. */
const longestSocketPath = 100;

/** Where engine and callers of one project meet. Callers never compute the socket: they read it from the notice. */
export function enginePaths(state: string): {
  run: string;
  /** The part of `run` that confined agents see: the notice and the socket. */
  contact: string;
  notice: string;
  keeper: string;
  lock: string;
  successor: string;
  socket: string;
} {
  const run = join(state, "run");
  const contact = join(run, "contact");
  return {
    run,
    contact,
    notice: join(run, "engine.json"),
    keeper: join(run, "keeper.json"),
    lock: join(run, "keeper.lock"),
    successor: join(run, "successor.json"),
    socket: socketPath(contact),
  };
}

function socketPath(contact: string): string {
  const near = join(contact, "engine.sock");
  if (Buffer.byteLength(near) <= longestSocketPath) return near;
  const name = new Bun.CryptoHasher("sha256").update(contact).digest("hex").slice(0, 16);
  const nearby = process.env.XDG_RUNTIME_DIR ?? process.getBuiltinModule("node:os").tmpdir();
  return join(nearby, `overstory-${name}`, "engine.sock");
}
