import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { exactShellWord } from "../../../domain/text/shell-word.ts";
import type { Diary } from "./diary.ts";
import type { McpProgram } from "./mcp.ts";
import type { StepOf } from "./scenario/step.ts";
import { Stopped, type StopRequest } from "./stop.ts";
import type { ToolAnswer } from "./stream/events.ts";
import type { Inbox } from "./stream/inbox.ts";
import type { Output } from "./stream/output.ts";
import type { ToolCall, Turn } from "./turn.ts";

/** Everything a step can reach. */
export interface Stage {
  readonly turn: Turn;
  readonly prompt: string;
  readonly out: Output;
  readonly stop: StopRequest;
  readonly diary: Diary;
  readonly inbox: Inbox;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The servers it was told about. */
  readonly mcpPrograms: readonly McpProgram[];
  /** What the turn may cost. */
  readonly maxBudgetUsd?: number | undefined;
  /** Takes a message that came during the turn. */
  hears(message: { readonly id: string | undefined; readonly text: string }): Promise<void>;
}

/** Why a step that had to work did not; undefined when it did. */
type Failure = string | undefined;

const identity = {
  GIT_AUTHOR_NAME: "Scripted Agent",
  GIT_AUTHOR_EMAIL: "scripted-agent@example.invalid",
  GIT_COMMITTER_NAME: "Scripted Agent",
  GIT_COMMITTER_EMAIL: "scripted-agent@example.invalid",
};
const killedCode = 137;

export async function useTool({ tool, usage }: StepOf<"tool">, { turn }: Stage): Promise<Failure> {
  const answer = { content: tool.output, isError: tool.error, structured: tool.output };
  await turn.call({ name: tool.name, input: tool.input, usage }, () => answer);
  return undefined;
}

export async function editFile({ edit, usage }: StepOf<"edit">, { turn, cwd }: Stage): Promise<Failure> {
  const file = resolve(cwd, edit.file);
  const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
  const change = edit.change;
  if ("replace" in change) {
    const { from, to } = change.replace;
    const input = { file_path: file, old_string: from, new_string: to, replace_all: false };
    const found = before?.includes(from) === true;
    const answer = await turn.call({ name: "Edit", input, usage }, () => {
      if (before === undefined) return failure("File does not exist.");
      if (!found) return failure("String to replace not found in file.");
      writeFileSync(
        file,
        before.replace(from, () => to),
      );
      return success(`The file ${file} has been updated.`, { filePath: file, oldString: from, newString: to });
    });
    return answer.isError ? `${edit.file}: ${answer.content}` : undefined;
  }
  const content = "write" in change ? change.write : (before ?? "") + change.append;
  await turn.call({ name: "Write", input: { file_path: file, content }, usage }, () => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    const type = before === undefined ? "create" : "update";
    return success(`File ${type}d successfully at: ${file}`, { type, filePath: file, content });
  });
  return undefined;
}

export async function runShell(step: StepOf<"shell">, stage: Stage): Promise<Failure> {
  const finished = await bash(step.shell, { argv: shell(step.shell), ...step }, stage);
  return unexpected(step.shell, finished, step);
}

export async function runOv(step: StepOf<"ov">, stage: Stage): Promise<Failure> {
  const { ov } = step;
  const line = typeof ov === "string" ? `ov ${ov}` : ["ov", ...ov].map(exactShellWord).join(" ");
  const argv: Command["argv"] = typeof ov === "string" ? shell(line) : ["ov", ...ov];
  return unexpected(line, await bash(line, { argv, ...step }, stage), step);
}

export async function commitAll({ commit, usage }: StepOf<"commit">, stage: Stage): Promise<Failure> {
  const line = `git add -A && git commit -m ${exactShellWord(commit)}`;
  const script = `git add -A || exit
    if git diff --cached --quiet; then echo "nothing to commit"; exit 0; fi
    exec git -c commit.gpgsign=false commit -m ${exactShellWord(commit)}`;
  const env = { ...stage.env, ...identity };
  return unexpected(line, await bash(line, { argv: shell(script), usage }, { ...stage, env }), {});
}

/** Starts a command without waiting for its end, as an agent does with a trailing `&`. */
export async function startChild({ child, usage }: StepOf<"child">, stage: Stage): Promise<Failure> {
  const { turn, diary, cwd, env } = stage;
  const input = { command: child.command, run_in_background: true };
  const answer = await turn.call({ name: "Bash", input, usage }, async () => {
    const pid = await startInBackground({ argv: shell(child.command), cwd, env }, child);
    if (pid === undefined) return failure("Command could not be started");
    diary.child({ pid, command: child.command });
    return success(`Command running in background with ID: ${pid}`, { ...bashOutput, backgroundTaskId: String(pid) });
  });
  return answer.isError ? answer.content : undefined;
}

interface BashCall {
  readonly argv: Command["argv"];
  readonly usage?: ToolCall["usage"];
}

/** Runs a command for real and shows it as a call of the shell tool. */
async function bash(line: string, { argv, usage }: BashCall, { turn, cwd, env, stop }: Stage): Promise<Finished> {
  let finished: Finished = { code: killedCode, stdout: "", stderr: "" };
  try {
    await turn.call({ name: "Bash", input: { command: line }, usage }, async () => {
      finished = await runCommand({ argv, cwd, env }, stop);
      return bashAnswer(finished);
    });
  } catch (error) {
    // Only a person breaking in is told apart from a killed command; that is the caller's to report.
    if (error instanceof Stopped && (error.by === "SIGTERM" || error.by === "SIGHUP")) {
      await turn.closeCall(bashAnswer(finished));
    }
    throw error;
  }
  return finished;
}

const bashOutput = { stdout: "", stderr: "", interrupted: false, isImage: false, noOutputExpected: false };

function bashAnswer({ code, stdout, stderr }: Finished): ToolAnswer {
  const out = stdout.trimEnd();
  const err = stderr.trimEnd();
  const shown = [out, err].filter((part) => part !== "").join("\n");
  if (code !== 0) return failure([`Exit code ${code}`, shown].join("\n").trimEnd());
  return success(shown === "" ? "(Bash completed with no output)" : shown, { ...bashOutput, stdout: out, stderr: err });
}

function unexpected(
  line: string,
  { code, stdout, stderr }: Finished,
  { expect = 0, allowFail = false }: { readonly expect?: number; readonly allowFail?: boolean },
): Failure {
  if (allowFail || code === expect) return undefined;
  const last = `${stdout}\n${stderr}`.trimEnd().split("\n").at(-1) ?? "";
  return `"${line}" exited with ${code} instead of ${expect}${last === "" ? "" : `: ${last}`}`;
}

const success = (content: string, structured: object): ToolAnswer => ({ content, isError: false, structured });
const failure = (content: string): ToolAnswer => ({ content, isError: true, structured: undefined });

interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const notFound = 127;
// Something left in the background may hold the pipes open for ever; what it wrote by then is enough.
const drainMs = 100;

/** Loaded with the first command: its streams cost as much as everything else that an agent does before its first word. */
const childProcesses = () => import("node:child_process");

const shell = (line: string): Command["argv"] => ["/bin/sh", "-c", line];

/** Runs a command to its end in a session of its own, as the imitated program does; a stop kills all of it. */
async function runCommand(command: Command, stop: StopRequest): Promise<Finished> {
  const [file, ...args] = command.argv;
  const { spawn } = await childProcesses();
  const child = spawn(file, args, {
    cwd: command.cwd,
    env: command.env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  const code = await stop.during(exitCode(child), () => killGroup(child));
  return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

/** Starts a command that outlives this process; answers its pid. */
async function startInBackground(
  command: Command,
  { newSession, keepStdout }: { readonly newSession: boolean; readonly keepStdout: boolean },
): Promise<number | undefined> {
  const [file, ...args] = command.argv;
  const { spawn } = await childProcesses();
  const child = spawn(file, args, {
    cwd: command.cwd,
    env: command.env,
    detached: newSession,
    stdio: ["ignore", keepStdout ? "inherit" : "ignore", "ignore"],
  });
  child.unref();
  return child.pid;
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on("error", () => resolve(notFound));
    child.on("exit", (code, signal) => {
      const answer = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      child.on("close", () => resolve(answer));
      void pause(drainMs).then(() => resolve(answer));
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The group is gone already, which is what was wanted.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
