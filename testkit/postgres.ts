import { afterAll, beforeAll, describe, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";

/** A private PostgreSQL server that lives as long as one test file. */
export interface PostgresServer {
  /** The URL of a new user with an empty schema of its own. A database per test would cost a fifth of a second. */
  freshSchema(): Promise<string>;
  /** The URL of a new, empty database; `options` end up after CREATE DATABASE. */
  freshDatabase(options: string): Promise<string>;
  stop(): Promise<void>;
}

/**
 * A `describe` with a server. Where PostgreSQL is not installed its tests are skipped and say so; in CI a skip would
 * hide a broken adapter, so there they fail.
 */
export function describePostgres(name: string, body: (server: () => PostgresServer) => void): void {
  const bin = findPostgres();
  const missing = `PostgreSQL is not installed (Debian: apt-get install postgresql); not tested: ${name}`;
  if (bin === undefined && process.env.CI === "true") {
    test(name, () => {
      throw new Error(missing);
    });
    return;
  }
  if (bin === undefined) console.warn(`SKIPPED: ${missing}`);
  const suite = bin === undefined ? describe.skip : describe;
  suite(name, () => {
    let running: PostgresServer | undefined;
    beforeAll(async () => {
      running = await startPostgres(bin ?? "");
    }, 300_000);
    afterAll(() => running?.stop(), 120_000);
    body(() => {
      if (running === undefined) throw new Error("the PostgreSQL server did not start");
      return running;
    });
  });
}

/** The directory of the server's programs. Debian keeps them off PATH, one directory per version. */
function findPostgres(): string | undefined {
  const asked =
    Bun.which("pg_config") === null ? "" : Bun.spawnSync(["pg_config", "--bindir"]).stdout.toString().trim();
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const path = (process.env.PATH ?? "").split(":");
  const candidates = [asked, ...versions.map((version) => join(debian, version, "bin")), ...path];
  return candidates.find((bin) => bin !== "" && existsSync(join(bin, "initdb")) && existsSync(join(bin, "postgres")));
}

/** Another program may take the free port in between; then another port is tried. */
async function startPostgres(bin: string): Promise<PostgresServer> {
  for (let tries = 1; ; tries++) {
    const dir = mkdtempSync(join(tmpdir(), "ov-pg-"));
    try {
      return await startIn(dir, bin);
    } catch (error) {
      rmSync(dir, { recursive: true, force: true });
      if (tries === 3) throw error;
    }
  }
}

async function startIn(dir: string, bin: string): Promise<PostgresServer> {
  const data = join(dir, "data");
  const passwordFile = join(dir, "password");
  const password = randomBytes(12).toString("hex");
  writeFileSync(passwordFile, password);
  const as = unprivileged([dir, passwordFile]);
  const init = [join(bin, "initdb"), "-D", data, "-U", "ov", "--no-sync", "--no-locale", "-E", "UTF8"];
  const initialised = Bun.spawnSync([...as, ...init, "--auth=password", `--pwfile=${passwordFile}`], { cwd: dir });
  if (!initialised.success) throw new Error(`initdb failed: ${initialised.stderr.toString()}`);

  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: dir,
    fsync: "off",
    synchronous_commit: "off",
    full_page_writes: "off",
    autovacuum: "off",
    max_connections: "100",
    shared_buffers: "32MB",
    deadlock_timeout: "100ms",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = Bun.spawn([...as, join(bin, "postgres"), "-D", data, "-p", String(port), ...flags], {
    cwd: dir,
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(join(dir, "log")),
  });
  const quit = (): void => server.kill("SIGQUIT");
  process.once("exit", quit);

  const url = (database: string, user = "ov"): string => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const stop = async (): Promise<void> => {
    process.off("exit", quit);
    quit();
    await server.exited;
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await answering(url("postgres"), server);
  } catch (error) {
    const log = await Bun.file(join(dir, "log")).text();
    await stop();
    throw new Error(`PostgreSQL did not start: ${log}`, { cause: error });
  }

  const admin = new SQL({ url: url("postgres"), database: "postgres", max: 1 });
  let made = 0;
  return {
    freshSchema: async () => {
      const user = `test_${++made}`;
      await admin.unsafe(`CREATE ROLE ${user} LOGIN PASSWORD '${password}'; CREATE SCHEMA AUTHORIZATION ${user}`);
      return url("postgres", user);
    },
    freshDatabase: async (options) => {
      const database = `test_${++made}`;
      await admin.unsafe(`CREATE DATABASE ${database} ${options}`);
      return url(database);
    },
    stop: async () => {
      await admin.close({ timeout: 0 });
      await stop();
    },
  };
}

/** PostgreSQL refuses to run as root; then it runs as its own user, who must own these paths. */
function unprivileged(paths: readonly string[]): string[] {
  if (process.getuid?.() !== 0) return [];
  const [uid, gid] = ["-u", "-g"].map((which) => Number(Bun.spawnSync(["id", which, "postgres"]).stdout.toString()));
  if (!uid || !gid) throw new Error("PostgreSQL refuses root, and there is no user `postgres` to run it as");
  for (const path of paths) chownSync(path, uid, gid);
  // It replaces itself with the server, so the child's pid is the server's.
  return ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no free port")),
      );
    });
  });
}

async function answering(url: string, server: Bun.Subprocess): Promise<void> {
  for (let tries = 0; ; tries++) {
    const probe = new SQL({ url, database: "postgres", max: 1 });
    try {
      await probe.unsafe("SELECT 1");
      return;
    } catch (error) {
      if (server.exitCode !== null || tries > 1_000) throw error;
    } finally {
      await probe.close({ timeout: 0 });
    }
    await Bun.sleep(50);
  }
}
