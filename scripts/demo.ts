import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ov = resolve(import.meta.dir, "..", "bin", "ov");
const scenario = `
- when: { capability: builder }
  do:
    - say: I will write the greeting.
    - edit: { file: greeting.txt, write: "hello from an agent\\n" }
    - commit: add the greeting
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: \${task}", --body, "greeting.txt is committed on \${branch}"]
`;

/** From an empty repository to a reported commit, with the commands a person would type. */
function demo(): void {
  const base = mkdtempSync(join(tmpdir(), "ov-demo-"));
  const root = join(base, "project");
  mkdirSync(root);
  writeFileSync(join(base, "scenario.yaml"), scenario);
  const who = {
    GIT_AUTHOR_NAME: "Demo",
    GIT_AUTHOR_EMAIL: "demo@example.invalid",
    GIT_COMMITTER_NAME: "Demo",
    GIT_COMMITTER_EMAIL: "demo@example.invalid",
  };
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: base,
    TMPDIR: base,
    OVERSTORY_SCENARIO: join(base, "scenario.yaml"),
    ...who,
  };
  const type = (...cmd: string[]): string => {
    console.log(`$ ${cmd.map((word) => (word === ov ? "ov" : word.includes(" ") ? `"${word}"` : word)).join(" ")}`);
    const ran = Bun.spawnSync({ cmd, cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    const out = ran.stdout.toString();
    process.stdout.write(out.replace(/^/gm, "  ").trimEnd().concat("\n"));
    if (ran.exitCode !== 0) throw new Error(`${cmd.join(" ")} exited ${ran.exitCode}\n${ran.stderr.toString()}`);
    return out;
  };
  try {
    type("git", "init", "--quiet", "--initial-branch=main");
    type("git", "commit", "--quiet", "--allow-empty", "-m", "first");
    type(ov, "init");
    type(ov, "config", "set", "runtime.default", "scripted");
    type(ov, "config", "set", "engine.idleExitMs", "500");
    type(ov, "task", "create", "Write a greeting", "--id", "T1");
    type(ov, "sling", "T1", "--name", "b1");
    waitForDone(root, env);
    type(ov, "status");
    type(ov, "mail", "check");
    type("git", "log", "--oneline", "--stat", "main..overstory/b1/T1");
    console.log("\nThat is the whole journey so far: a task, an agent in its own worktree, a commit, a report.");
  } finally {
    waitForQuiet(root, env);
    rmSync(base, { recursive: true, force: true });
  }
}

function statusOf(root: string, env: Record<string, string>): { agents: { state: string }[]; engine: unknown } {
  const ran = Bun.spawnSync({ cmd: [ov, "status", "--all", "--json"], cwd: root, env });
  return JSON.parse(ran.stdout.toString());
}

function waitForDone(root: string, env: Record<string, string>): void {
  for (let i = 0; i < 300; i++) {
    if (statusOf(root, env).agents.every((agent) => agent.state === "completed")) return;
    Bun.sleepSync(100);
  }
  throw new Error("the agent did not finish within 30 s");
}

function waitForQuiet(root: string, env: Record<string, string>): void {
  for (let i = 0; i < 100 && statusOf(root, env).engine !== null; i++) Bun.sleepSync(100);
}

demo();
