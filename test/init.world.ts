import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { makeApp } from "../src/compose/app.ts";
import { runCli } from "../src/surfaces/cli/run.ts";
import type { Sink } from "../src/surfaces/cli/sink.ts";
import { tree } from "../src/surfaces/cli/tree.ts";

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A directory with a home of its own, in which git and our commands run as one isolated person. */
export interface World extends Disposable {
  readonly base: string;
  /** Where commands are typed: `repo` unless said otherwise. */
  readonly root: string;
  readonly env: Record<string, string>;
  git(...args: string[]): Promise<string>;
  gitIn(cwd: string, ...args: string[]): Promise<string>;
  write(path: string, text: string | Uint8Array): void;
  read(path: string): string;
  ov(...args: string[]): Promise<Answer>;
  ovIn(cwd: string, ...args: string[]): Promise<Answer>;
  /** The one document a command printed with --json. */
  json(...args: string[]): Promise<Record<string, unknown>>;
  /** Puts an empty program on the PATH. */
  install(...programs: string[]): void;
  /** Every file, directory and link below the root with a digest of its bytes, git's own directory included. */
  snapshot(): Readonly<Record<string, string>>;
}

/** What every set-up shares through git, beside the instruction file. */
export const ownFiles = [".gitignore", "README.md", "agent-manifest.json", "config.yaml"].map(
  (name) => `.overstory/${name}`,
);

export async function initWorld(options: { readonly repo?: string; readonly branch?: string } = {}): Promise<World> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ov-init-")));
  const root = join(base, options.repo ?? "repo");
  const bin = join(base, "bin");
  for (const dir of [root, bin, join(base, "home")]) mkdirSync(dir, { recursive: true });
  writeFileSync(join(base, "gitconfig"), "[user]\n\tname = Ann\n\temail = ann@example.invalid\n");
  const env: Record<string, string> = {
    PATH: `${bin}:${systemPath()}`,
    HOME: join(base, "home"),
    GIT_CONFIG_GLOBAL: join(base, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const gitIn = (cwd: string, ...args: string[]): Promise<string> => run(["git", ...args], cwd, env);
  await gitIn(root, "init", "--quiet", `--initial-branch=${options.branch ?? "main"}`);
  const ovIn = (cwd: string, ...args: string[]): Promise<Answer> => command(args, cwd, env);
  return {
    base,
    root,
    env,
    git: (...args) => gitIn(root, ...args),
    gitIn,
    write: (path, text) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
    ov: (...args) => ovIn(root, ...args),
    ovIn,
    json: async (...args) => document(await ovIn(root, ...args, "--json")),
    install: (...programs) => {
      for (const program of programs) {
        writeFileSync(join(bin, program), "#!/bin/sh\n");
        chmodSync(join(bin, program), 0o755);
      }
    },
    snapshot: () => snapshot(root),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Proves there is exactly one document: one line, which parses. */
export function document({ out, err }: Answer): Record<string, unknown> {
  const lines = out.split("\n");
  if (lines.length !== 2 || lines[1] !== "") throw new Error(`not one document: ${out}${err}`);
  const parsed: Record<string, unknown> = JSON.parse(out);
  return parsed;
}

/** Where git and a shell are, without whatever coding agents this machine has. */
function systemPath(): string {
  const git = Bun.which("git");
  if (git === null) throw new Error("git is missing");
  return `${dirname(git)}:/usr/bin:/bin`;
}

async function run(cmd: readonly string[], cwd: string, env: Record<string, string>): Promise<string> {
  const child = Bun.spawn({ cmd: [...cmd], cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${cmd.join(" ")}: ${err}${out}`);
  return out;
}

async function command(argv: readonly string[], cwd: string, env: Record<string, string>): Promise<Answer> {
  const said = { out: "", err: "" };
  const sink = (stream: "out" | "err"): Sink => ({
    write: (text) => {
      said[stream] += text;
      return "written";
    },
    isTTY: () => false,
    isPipe: () => false,
    columns: () => undefined,
  });
  const code = await runCli({
    argv,
    env,
    tree,
    version: "1.2.3",
    makeApp: ({ project }) => makeApp({ env, cwd, project }),
    stdout: sink("out"),
    stderr: sink("err"),
  });
  return { code, ...said };
}

function snapshot(root: string): Record<string, string> {
  const seen: Record<string, string> = {};
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    const path = join(root, name);
    const stat = lstatSync(path);
    const digest = stat.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
    seen[relative(root, path)] = `${stat.mode.toString(8)} ${stat.isFile() ? stat.mtimeMs : ""} ${digest}`;
  }
  return seen;
}
