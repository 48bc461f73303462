import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type FailureCause, failures } from "../../../domain/turn/failure.ts";
import type { Step, StepOf } from "./scenario/step.ts";
import {
  type ApiFailure,
  apiRetryEvent,
  rateLimitEvent,
  refusalEvent,
  syntheticAssistantEvent,
} from "./stream/events.ts";
import type { ControlAnswer } from "./stream/inbox.ts";
import type { Outcome } from "./stream/result.ts";
import { costInUsd } from "./stream/tokens.ts";
import { commitAll, editFile, runOv, runShell, type Stage, startChild, useTool } from "./tools.ts";

/** How a turn ends: with a result, or with the process and no result at all. */
export type Ending = Outcome | { readonly kind: "exit"; readonly code: number };

/** Many of us may wait beside each other for long; what comes soon is still seen soon. */
const firstPauseMs = 5;
const longestPauseMs = 100;
const ownSignalMs = 200;
const floodBatchBytes = 64 * 1024;

/** Does the steps in order until one ends the turn. A turn whose steps all went well succeeds with the last text said. */
export async function performSteps(steps: readonly Step[], stage: Stage): Promise<Ending> {
  return (await performUntilEnd(steps, stage)) ?? { kind: "success", text: stage.turn.lastText };
}

async function performUntilEnd(steps: readonly Step[], stage: Stage): Promise<Ending | undefined> {
  for (const step of steps) {
    stage.stop.check();
    const ending = (await perform(step, stage)) ?? overBudget(stage);
    if (ending !== undefined) return ending;
  }
  return undefined;
}

function overBudget({ turn, maxBudgetUsd }: Stage): Ending | undefined {
  if (maxBudgetUsd === undefined || costInUsd(turn.tokens) < maxBudgetUsd) return undefined;
  return { kind: "budget", limitUsd: maxBudgetUsd };
}

/** Undefined means: go on with the next step. */
async function perform(step: Step, stage: Stage): Promise<Ending | undefined> {
  const { turn, stop, out, cwd } = stage;
  switch (step.kind) {
    case "say":
      return void (await turn.say(step.say, step.usage));
    case "think":
      return void (await turn.think(step.think, step.usage));
    case "tool":
      return failed(step, await useTool(step, stage));
    case "mcp":
      return failed(step, await (await import("./mcp.ts")).useMcpTool(step, stage));
    case "edit":
      return failed(step, await editFile(step, stage));
    case "shell":
      return failed(step, await runShell(step, stage));
    case "commit":
      return failed(step, await commitAll(step, stage));
    case "ov":
      return failed(step, await runOv(step, stage));
    case "ask":
    case "readFile":
    case "writeFile":
      return failed(step, await ask(step, stage));
    case "child":
      return failed(step, await startChild(step, stage));
    case "sleep":
      return void (await stop.sleep(step.sleep));
    case "hang":
      return stop.forever();
    case "closeStdout":
      return void out.close();
    case "ignoreSigterm":
      return void stop.ignoreSigterm();
    case "exit":
      return { kind: "exit", code: step.exit };
    case "kill":
      process.kill(process.pid, step.kill);
      return void (await stop.sleep(step.kill === "SIGSTOP" ? 0 : ownSignalMs));
    case "malformed":
      return void (await out.line(step.malformed));
    case "split":
      return void out.splitNext();
    case "bigLine":
      return void (await out.line(paddedLine(stage, step.bigLine)));
    case "flood":
      return void (await flood(step, stage));
    case "rateLimit":
      return failModelCall({ status: 429, ...step.rateLimit }, stage);
    case "apiError":
      return failModelCall(step.apiError, stage);
    case "fail":
      return failTurn(step.fail, stage);
    case "newSessionId":
    case "noInit":
      // Both were obeyed when the turn opened.
      return undefined;
    case "waitFor":
      return failed(step, await waitForFile(step, stage));
    case "hear":
      return failed(step, await hear(step, stage));
    case "touch":
      return void touch(resolve(cwd, step.touch));
    case "repeat":
      return repeat(step, stage);
    case "result":
      return { kind: step.result.error ? "failed" : "success", text: step.result.text };
    case "input":
      if (stage.prompt.includes(step.input.expect)) return undefined;
      return failed(step, `the prompt lacks "${step.input.expect}"`);
  }
}

function failed(step: Step, problem: string | undefined): Ending | undefined {
  return problem === undefined ? undefined : { kind: "failed", text: `scenario line ${step.line}: ${problem}` };
}

/** A text event whose line has exactly this many bytes, its newline included. */
function paddedLine({ turn }: Stage, bytes: number): string {
  const missing = bytes - Buffer.byteLength(turn.textLine("")) - 1;
  return turn.textLine("x".repeat(Math.max(0, missing)));
}

async function flood({ flood }: StepOf<"flood">, { turn, out, stop }: Stage): Promise<void> {
  const text = "x".repeat(flood.bytes);
  const batch = Math.max(1, Math.floor(floodBatchBytes / (flood.bytes + 1)));
  for (let sent = 0; sent < flood.events; sent += batch) {
    stop.check();
    const size = Math.min(batch, flood.events - sent);
    await out.line(...Array.from({ length: size }, () => turn.textLine(text)));
  }
}

/** Waits for a message during the turn. The next one must have the text. */
async function hear({ hear }: StepOf<"hear">, { inbox, stop, hears }: Stage): Promise<string | undefined> {
  const deadline = Date.now() + hear.timeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    const message = inbox.takeWaiting();
    if (message !== undefined) {
      await hears(message);
      return message.text.includes(hear.expect) ? undefined : `the message lacks "${hear.expect}"`;
    }
    if (Date.now() >= deadline) return `no message came within ${hear.timeoutMs} ms`;
    await stop.sleep(pauseMs);
  }
}

async function waitForFile({ waitFor }: StepOf<"waitFor">, { cwd, stop }: Stage): Promise<string | undefined> {
  const file = resolve(cwd, waitFor.file);
  const deadline = Date.now() + waitFor.timeoutMs;
  for (let pauseMs = firstPauseMs; !existsSync(file); pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    if (Date.now() >= deadline) return `${waitFor.file} did not appear within ${waitFor.timeoutMs} ms`;
    await stop.sleep(pauseMs);
  }
  return undefined;
}

function touch(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "", { flag: "a" });
  const now = new Date();
  utimesSync(file, now, now);
}

async function repeat({ repeat }: StepOf<"repeat">, stage: Stage): Promise<Ending | undefined> {
  for (let round = 0; round < repeat.times; round++) {
    const ending = await performUntilEnd(repeat.do, stage);
    if (ending !== undefined) return ending;
  }
  return undefined;
}

interface Trouble {
  readonly status: number;
  readonly error?: string | undefined;
  readonly retries: number;
  readonly recover?: boolean;
  readonly resetInMs?: number | undefined;
}

const firstRetryMs = 500;

/** The words the imitated program uses for a status: its own, and those of the API. */
const names: Readonly<Record<number, { readonly error: string; readonly type: string }>> = {
  400: { error: "unknown", type: "invalid_request_error" },
  401: { error: "authentication_failed", type: "authentication_error" },
  403: { error: "authentication_failed", type: "permission_error" },
  404: { error: "model_not_found", type: "not_found_error" },
  429: { error: "rate_limit", type: "rate_limit_error" },
  529: { error: "overloaded", type: "overloaded_error" },
};
const serverError = { error: "server_error", type: "api_error" };

/** A model call that fails, after retries that are announced but not waited for. Undefined when it recovers. */
async function failModelCall(trouble: Trouble, { out, turn }: Stage): Promise<Outcome | undefined> {
  const { retries, resetInMs, recover = false } = trouble;
  const failure = describe(trouble);
  const session = turn.session;
  for (let attempt = 1; attempt <= retries; attempt++) {
    const delayMs = resetInMs ?? firstRetryMs * 2 ** (attempt - 1);
    await out.event(apiRetryEvent({ session, attempt, retries, delayMs, failure }));
  }
  if (recover) return undefined;
  if (resetInMs !== undefined) await out.event(rateLimitEvent(session, Date.now() + resetInMs));
  await out.event(syntheticAssistantEvent(session, failure));
  return { kind: "api-error", failure };
}

/** What the imitated program says for each cause, as it was seen to. */
const spoken: Readonly<Partial<Record<FailureCause, Partial<ApiFailure> & Pick<ApiFailure, "status">>>> = {
  rate_limit: { status: 429 },
  overloaded: { status: 529, error: "server_error" },
  server_error: { status: 500 },
  network: { status: null, error: "unknown", type: "connection_failed", text: "API Error: Connection refused" },
  login: { status: 401, text: "Invalid API key · Fix external API key" },
  credit: { status: 400, error: "billing_error", text: "Credit balance is too low" },
  model: { status: 404, text: "There's an issue with the selected model" },
  refusal: {
    status: null,
    error: "invalid_request",
    stopReason: "refusal",
    text: "API Error: safeguards flagged this",
  },
  context_full: {
    status: 400,
    error: "invalid_request",
    terminalReason: "prompt_too_long",
    text: "Prompt is too long · and cannot be compacted",
  },
  rejected: { status: 400, text: "API Error: 400 scripted 400" },
};

/** Ends the turn as the imitated program would for this cause. */
async function failTurn(cause: FailureCause, { out, turn }: Stage): Promise<Outcome> {
  if (cause === "budget") return { kind: "budget", limitUsd: 0.01 };
  if (cause === "session_lost") return { kind: "session-lost", session: turn.session };
  if (cause === "mode" || cause === "tools") {
    const permissionMode = cause === "mode" ? "plan" : "default";
    const mcpServers = [{ name: "overstory", status: "failed", source: "dynamic" }] as const;
    await turn.open({ cwd: process.cwd(), permissionMode, mcpServers });
    return { kind: "success", text: "there was no tool to use" };
  }
  const said = spoken[cause] ?? { status: 500 };
  const failure = { ...describe({ status: said.status ?? 0, retries: 0 }), text: failures[cause].words, ...said };
  if (cause === "refusal") await out.event(refusalEvent(turn.session));
  await out.event(syntheticAssistantEvent(turn.session, failure));
  return { kind: "api-error", failure };
}

function describe({ status, error }: Trouble): ApiFailure {
  const known = names[status] ?? serverError;
  const text = status === 429 ? "Request rejected (429) · scripted 429" : `${status} scripted ${status}`;
  return { status, error: error ?? known.error, type: known.type, text: `API Error: ${text}` };
}

type AskStep = StepOf<"ask"> | StepOf<"readFile"> | StepOf<"writeFile">;

/** Asks on standard output, and waits for the answer on standard input. What it was told is a text of the turn. */
async function ask(step: AskStep, { out, stop, inbox, diary, turn }: Stage): Promise<string | undefined> {
  const id = crypto.randomUUID();
  const answer = inbox.answerTo(id);
  await out.event({ type: "control_request", request_id: id, request: requestOf(step) });
  const told = await stop.during(answer);
  if (told === undefined) return "standard input ended before the answer came";
  diary.answer({ request: step.kind, answer: told });
  await turn.say(`${step.kind}: ${JSON.stringify(told)}`);
  return problemOf(step, told);
}

function requestOf(step: AskStep): object {
  if (step.kind === "readFile") return { subtype: "read_file", path: step.readFile };
  if (step.kind === "writeFile") return { subtype: "write_file", path: step.writeFile.file, text: step.writeFile.text };
  const { tool, input } = step.ask;
  return { subtype: "can_use_tool", tool_name: tool, input, tool_use_id: "toolu_asked" };
}

function problemOf(step: AskStep, told: ControlAnswer): string | undefined {
  const verdict = told.behavior === "allow" || told.kind === "granted" ? "allow" : "deny";
  if (step.kind === "readFile") {
    const isRight = verdict === "allow" && (step.expect === undefined || String(told.text).includes(step.expect));
    return isRight ? undefined : `reading ${step.readFile} was answered with ${JSON.stringify(told)}`;
  }
  const wanted = step.kind === "ask" ? step.ask.expect : step.expect;
  return verdict === wanted ? undefined : `expected ${wanted}, and was told ${JSON.stringify(told)}`;
}
