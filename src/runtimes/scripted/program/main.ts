import { writeSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ok, type Result } from "../../../domain/result.ts";
import { Agent } from "./agent.ts";
import { parseArguments } from "./arguments.ts";
import { Conversations, newConversation } from "./conversation.ts";
import { Diary } from "./diary.ts";
import { loadScenario } from "./scenario/load.ts";
import type { Rule } from "./scenario/rule.ts";
import { exitCodes, Stopped, StopRequest } from "./stop.ts";
import { controlResponse, imitatedVersion } from "./stream/events.ts";
import { Inbox } from "./stream/inbox.ts";
import { Output } from "./stream/output.ts";
import { unknownSession, unknownSessionResult } from "./stream/result.ts";

const usageError = 1;
const badScenario = 64;

/** What control requests are answered with. An interrupt of nothing is answered too, and changes nothing. */
const answers: Readonly<Record<string, { readonly value: object }>> = {
  initialize: { value: { commands: [], models: [], pid: process.pid } },
  interrupt: { value: { still_queued: [] } },
};

/**
 * Runs the scripted agent on this process's standard streams and signals; answers the exit code. The caller must then
 * exit: standard input may still be open.
 */
export async function runScriptedAgent(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  if (argv[0] === "--interactive") return (await import("./interactive.ts")).runInteractive(argv.slice(1), env);
  const stop = new StopRequest();
  stop.listen();
  const out = new Output();
  const args = parseArguments(argv);
  if (!args.ok) return complain(usageError, args.refusal);
  if (args.value.version) {
    await out.line(`${imitatedVersion} (Scripted Agent)`);
    return 0;
  }
  const rules = rulesOf(env.OVERSTORY_SCENARIO);
  if (!rules.ok) return complain(badScenario, "The scenario cannot be used:", ...rules.refusal);

  const cwd = process.cwd();
  const home = env.HOME ?? homedir();
  const root = env.OVERSTORY_SCENARIO_STATE ?? join(home, ".scripted-agent", "state");
  const diary = new Diary(root, env.OVERSTORY_AGENT_NAME ?? "");
  const attempt = diary.start({ argv, cwd, systemPrompt: args.value.systemPrompt });

  const conversations = new Conversations(home);
  const { resume, session } = args.value;
  if (session !== undefined && conversations.find(session) !== undefined) {
    return complain(usageError, `Error: Session ID ${session} is already in use.`);
  }
  const conversation =
    resume === undefined ? newConversation(session ?? crypto.randomUUID()) : conversations.find(resume);
  if (conversation === undefined) {
    await out.event(unknownSessionResult(resume ?? ""));
    return complain(usageError, unknownSession(resume ?? ""));
  }
  const inbox = new Inbox((answer) => diary.answer({ request: "none", answer }));
  const parts = { args: args.value, env, cwd, rules: rules.value, attempt, out, stop, diary, inbox, conversations };
  return serve(new Agent(parts, conversation), inbox, out, stop);
}

/** Without a scenario every turn has nothing to do. */
function rulesOf(path: string | undefined): Result<readonly Rule[], readonly string[]> {
  return path === undefined || path === "" ? ok([]) : loadScenario(path);
}

/** One turn per prompt until standard input ends, a turn ends the process, or a signal does. */
async function serve(agent: Agent, inbox: Inbox, out: Output, stop: StopRequest): Promise<number> {
  let busy = false;
  let failed = false;
  const reading = inbox.read(Bun.stdin.stream(), ({ id, subtype }) => {
    void out.event(controlResponse(id, answers[subtype] ?? { error: "unsupported_request" }));
    if (subtype === "interrupt" && busy) stop.request("interrupt");
  });
  try {
    for (;;) {
      const arrival = await stop.during(inbox.next());
      if (arrival === undefined) {
        await reading;
        return failed ? 1 : 0;
      }
      if (arrival.kind === "malformed")
        return complain(usageError, `Error parsing streaming input line: ${arrival.line}`);
      busy = true;
      const after = await agent.takeTurn(arrival.text);
      busy = false;
      if (after.kind === "exit") return after.code;
      failed = after.failed;
    }
  } catch (error) {
    if (error instanceof Stopped && error.by !== "interrupt") return exitCodes[error.by];
    throw error;
  }
}

function complain(code: number, ...lines: readonly string[]): number {
  writeSync(2, `${lines.join("\n")}\n`);
  return code;
}
