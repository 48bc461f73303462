import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Step, StepOf } from "./scenario/step.ts";
import type { Outcome } from "./stream/result.ts";
import { costInUsd } from "./stream/tokens.ts";
import { commitAll, editFile, runOv, runShell, type Stage, startChild, useTool } from "./tools.ts";
import { failModelCall, failTurn } from "./trouble.ts";

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
      return failed(step, await (await import("./ask.ts")).ask(step, stage));
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
