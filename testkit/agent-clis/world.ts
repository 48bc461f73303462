import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Fields, fields } from "../../src/runtimes/shared/json-fields.ts";
import { type FakeModel, startFakeModel } from "../fake-model/server.ts";
import { type Recipe, type SaidByCli, usageFileOf } from "./recipe.ts";

/** A home, a repository with a linked worktree, and a fake model, for turns of one real CLI without any of our program. */
export interface CliWorld extends AsyncDisposable {
  readonly model: FakeModel;
  readonly home: string;
  readonly worktree: string;
  /** What the tool `note` of the MCP server was given, if there is one. */
  notes(): string;
  turn(prompt: string, session?: string): Promise<CliTurn>;
  /** What the program says of itself. */
  version(): Promise<string>;
  git(...args: string[]): Promise<string>;
}

export interface CliTurn extends SaidByCli {
  readonly exitCode: number;
  /** Everything that it printed, for the message of a test that fails. */
  readonly output: string;
}

/** A turn that takes longer is ended, with everything that it started in its group. */
const patienceMs = 150_000;

export async function cliWorld(program: string, recipe: Recipe, { hasServer = false } = {}): Promise<CliWorld> {
  const model = startFakeModel();
  const base = mkdtempSync(join(tmpdir(), "ov-cli-"));
  const [home, repository, worktree] = ["home", "repository", "worktree"].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const dir of [join(home, "tmp"), repository]) mkdirSync(dir, { recursive: true });
  const notes = join(base, "notes");
  const args = [join(import.meta.dir, "note-server.ts"), notes];
  const server = hasServer ? { name: "lab", command: process.execPath, args } : undefined;
  const place = { url: model.url, home, server };
  for (const [path, content] of Object.entries(recipe.files(place))) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const env = { ...environment(home), ...recipe.env(place) };
  const git = async (...args: string[]): Promise<string> => {
    const { exitCode, out, err } = await run(["git", ...args], {
      cwd: existsSync(worktree) ? worktree : repository,
      env,
    });
    if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${err}`);
    return out;
  };
  await git("init", "--quiet", "--initial-branch", "main");
  await git("commit", "--quiet", "--allow-empty", "--message", "Begin");
  await git("worktree", "add", "--quiet", "-b", "work", worktree);
  return {
    model,
    home,
    worktree,
    git,
    notes: () => (existsSync(notes) ? readFileSync(notes, "utf8") : ""),
    version: async () => {
      const { out, err } = await run([program, "--version"], { cwd: worktree, env });
      return out + err;
    },
    turn: async (prompt, session) => {
      const argv = [program, ...recipe.argv({ ...place, prompt, session })];
      const { exitCode, out, err } = await run(argv, { cwd: worktree, env });
      const lines = out.split("\n").filter((line) => line.trim() !== "");
      const usage = usageFileOf(home);
      const usageFile = existsSync(usage) ? (fields(JSON.parse(readFileSync(usage, "utf8"))) ?? {}) : {};
      return { ...recipe.read(lines.map(fieldsIn), usageFile), exitCode, output: `${out}\n${err}` };
    },
    [Symbol.asyncDispose]: async () => {
      await model[Symbol.asyncDispose]();
      rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/**
 * Nothing of this machine but its programs. Connections outside loopback are refused at once: no program listens at
 * that port.
 */
function environment(home: string): Record<string, string> {
  const nobody = "http://127.0.0.1:9";
  const author = { NAME: "Agent", EMAIL: "agent@example.invalid" };
  return {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: home,
    TMPDIR: join(home, "tmp"),
    LANG: "C.UTF-8",
    TERM: "dumb",
    HTTP_PROXY: nobody,
    HTTPS_PROXY: nobody,
    http_proxy: nobody,
    https_proxy: nobody,
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
    ...Object.fromEntries(
      ["AUTHOR", "COMMITTER"].flatMap((who) =>
        Object.entries(author).map(([key, value]) => [`GIT_${who}_${key}`, value]),
      ),
    ),
  };
}

async function run(cmd: string[], { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> }) {
  const child = Bun.spawn({ cmd, cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const timer = setTimeout(() => endGroup(child.pid), patienceMs);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const exitCode = await child.exited;
  clearTimeout(timer);
  return { exitCode, out, err };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself in this moment.
  }
}

/** A line that is no JSON is no event. */
function fieldsIn(line: string): Fields {
  try {
    return fields(JSON.parse(line)) ?? {};
  } catch {
    return {};
  }
}
