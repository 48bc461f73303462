import { explainedDenialView } from "../../../contract/views/agent.ts";
import { type Capability, isCapability } from "../../../domain/agent/capability.ts";
import { payloadFields } from "../../../domain/mail/payload.ts";
import { invalid } from "../../../domain/refusal.ts";
import { no, ok } from "../../../domain/result.ts";
import { visibleJson, visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { TriedCommand, TryVerdict } from "../../../usecases/guard/try-commands.ts";
import { exits } from "../../shared/exits.ts";
import { moment } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Handler } from "../command.ts";
import { isOn, number, text, texts } from "../given.ts";
import { errorLine, successLine } from "../marks.ts";
import { eachLine, fileSink } from "../sink.ts";

const defaultRole = "builder";

export const testCommand: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const role = roleNamed(text(flags.role) ?? defaultRole) ?? defaultRole;
  if (isOn(flags.stdin)) {
    await answerLines(app, role);
    return ok({ json: {}, text: "", silent: true });
  }
  const command = texts(args.command)?.join(" ") ?? "";
  if (command.trim() === "")
    return no(invalid("command", "must be given behind --, or on standard input with --stdin"));
  const where = {
    cwd: text(flags.cwd) ?? null,
    worktree: text(flags.worktree) ?? null,
    task: text(flags.task) ?? null,
  };
  const tried = await app.call("guard.try", { commands: [{ role, command, ...where }] });
  if (!tried.ok) return tried;
  const [verdict = unreadable("the guard gave no answer")] = tried.value;
  const { decision, ruleId, reason, of } = verdict;
  const denied = [errorLine(io.paint, `deny (${ruleId}): ${visibleText(reason ?? "")}`), `  ${visibleLine(of ?? "")}`];
  return ok({
    json: { role, decision, ruleId, reason, of },
    text: decision === "allow" ? successLine(io.paint, `allow: a ${role} may run this`) : denied.join("\n").trimEnd(),
    exit: decision === "allow" ? exits.ok : exits.check,
  });
};

const roleNamed = (name: string): Capability | undefined => (isCapability(name) ? name : undefined);

/** One answer for each line, in order, as soon as it can be given. A line that cannot be read is denied. */
async function answerLines(app: App, role: Capability): Promise<void> {
  const out = fileSink(1);
  await eachLine(async (lines) => {
    const asked = lines.filter((line) => line.trim() !== "").map((line) => commandIn(line, role));
    const commands = asked.flatMap((each) => ("command" in each ? [each] : []));
    const judged = commands.length === 0 ? [] : await judge(app, commands);
    const answers = asked.map((each) => ("command" in each ? (judged.shift() ?? unreadable("no answer")) : each));
    const written = answers.map(({ decision, ruleId, reason }) => JSON.stringify({ decision, ruleId, reason }));
    return out.write(written.map((line) => `${visibleJson(line)}\n`).join("")) === "written";
  });
}

/** No command may end the stream: what cannot be judged is denied. */
async function judge(app: App, commands: readonly TriedCommand[]): Promise<TryVerdict[]> {
  const tried = await app.call("guard.try", { commands });
  return tried.ok ? [...tried.value] : commands.map(() => unreadable("the guard could not be asked"));
}

const unreadable = (reason: string): TryVerdict => ({ decision: "deny", ruleId: "unreadable", reason, of: null });

function commandIn(line: string, otherwise: Capability): TriedCommand | TryVerdict {
  const given = payloadFields(line);
  const { role = otherwise, command } = given;
  const known = typeof role === "string" ? roleNamed(role) : undefined;
  if (known === undefined) return unreadable("the line names no role that there is");
  if (typeof command !== "string") return unreadable("the line is no JSON object with a command");
  const [cwd, worktree] = [placeIn(given.cwd), placeIn(given.worktree)];
  if (cwd === undefined || worktree === undefined) return unreadable("cwd and worktree must be absolute paths");
  const [task, agent] = [given.task, given.agent].map((value) => (typeof value === "string" ? value : null));
  return { role: known, command, cwd, worktree, task: task ?? null, agent: agent ?? null };
}

/** Null when the flag was left out, undefined for a path that is not absolute. */
function placeIn(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === "string" && value.startsWith("/") ? value : undefined;
}

export const explain: Handler = async ({ app, args, io }) => {
  const event = number("event", text(args.event));
  if (!event.ok) return event;
  const found = await app.call("guard.explain", { event: event.value });
  if (!found.ok) return found;
  const { agentName, at, tool, summary, ruleId, of, reason, means, instead } = found.value;
  const { paint } = io;
  const lines = [
    `${paint.accent(visibleLine(agentName ?? "an agent"))} was kept from using ${visibleLine(tool ?? "a tool")} ${paint.muted(moment(at))}`,
    ...row("rule", ruleId),
    ...row("tried", summary),
    ...row("denied part", of),
    ...row("told", reason),
    ...row("means", means),
    ...row("instead", instead),
  ];
  return ok({ json: explainedDenialView(found.value), text: lines.join("\n"), wraps: true });
};

const row = (name: string, value: string | null): readonly string[] =>
  value === null ? [] : [`  ${`${name}:`.padEnd(13)}${visibleLine(value)}`];
