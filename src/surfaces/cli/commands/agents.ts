import {
  agentView,
  attachedAgentView,
  nudgeView,
  pausedAgentsView,
  releasedAgentsView,
  resumedAgentsView,
  seatView,
} from "../../../contract/views/agent.ts";
import { agentWorkView, branchWorkView, type ChangedFile, changedFileView } from "../../../contract/views/worktree.ts";
import type { Agent } from "../../../domain/agent/agent.ts";
import { patchedFiles } from "../../../domain/diff/patched-files.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { AttachStep } from "../../../usecases/agents/attach.ts";
import { exits } from "../../shared/exits.ts";
import { ago, duration, iso } from "../../shared/format.ts";
import type { Handler, Paint, Rows } from "../command.ts";
import { isOn, text, texts, word } from "../given.ts";
import { hintLine, statusIcon, statusWords, successLine, warningLine } from "../marks.ts";
import { isTerminal } from "../sink.ts";

export const discover: Handler = async ({ app, flags, io }) => {
  const found = await app.call("agent.discover", {
    capability: text(flags.capability),
    state: text(flags.state),
    parent: text(flags.parent),
    all: isOn(flags.all),
  });
  if (!found.ok) return found;
  const { agents } = found.value;
  const objects = agents.map(agentView);
  const lines = agents.length === 0 ? ["No agents."] : agents.map((agent) => line(io.paint, agent));
  return ok({ json: { agents: objects }, text: lines.join("\n"), wraps: true, rows: rowsOf(agents, objects) });
};

function line(paint: Paint, agent: Agent): string {
  const task = agent.taskId === null ? "" : ` ${agent.taskId}`;
  const scope = agent.scope.length === 0 ? "" : ` owns ${visibleLine(agent.scope.join(", "))}`;
  const parent = paint.dim(`below ${agent.parentName}, ${ago(agent.lastActivityAt, Date.now())}`);
  const state = `${statusIcon(paint, agent)} ${paint.accent(agent.name)} ${agent.capability}`;
  return `${state} ${statusWords(paint, agent)}${task}${scope} ${parent}`;
}

function rowsOf(agents: readonly Agent[], objects: readonly object[]): Rows {
  return {
    columns: ["NAME", "CAPABILITY", "STATE", "TASK", "PARENT", "BRANCH", "SCOPE"],
    cells: agents.map((agent) => [
      agent.name,
      agent.capability,
      agent.state,
      agent.taskId ?? "-",
      agent.parentName,
      agent.branch ?? "-",
      agent.scope.join(","),
    ]),
    objects,
  };
}

export const pause: Handler = async ({ app, args, flags, io }) => {
  const done = await app.call("agent.pause", { name: word(args.agent), tree: isOn(flags.tree) });
  if (!done.ok) return done;
  const { paused, alreadyPaused, running } = done.value;
  const lines = [
    ...paused.map((name) => successLine(io.paint, "Paused", name)),
    ...alreadyPaused.map((name) => `${io.paint.accent(name)} was paused before`),
    ...running.map((name) => hintLine(io.paint, `${name} finishes the turn that is running`)),
  ];
  return ok({ json: pausedAgentsView(done.value), text: lines.join("\n"), quietText: "" });
};

export const resume: Handler = async ({ app, args, flags, io }) => {
  const done = await app.call("agent.resume", { name: word(args.agent), tree: isOn(flags.tree) });
  if (!done.ok) return done;
  const { resumed, waiting, queued } = done.value;
  const lines = [
    ...resumed.map((name) => successLine(io.paint, queued.includes(name) ? "Resumed, with a turn:" : "Resumed", name)),
    ...waiting.flatMap(({ name, reason, until, next }) => [
      `${io.paint.accent(name)} was not changed: ${visibleLine(reason)}${until === null ? "" : `, until ${iso(until)}`}`,
      ...(next === null ? [] : [hintLine(io.paint, visibleLine(next))]),
    ]),
  ];
  return ok({ json: resumedAgentsView(done.value), text: lines.join("\n"), quietText: "" });
};

export const attach: Handler = async ({ app, args, flags, io }) => {
  const name = word(args.agent);
  const onWaiting = (waitedMs: number): void => {
    const lines =
      waitedMs >= 1_000
        ? [`Still waiting for ${name}, ${duration(waitedMs)} so far.`]
        : [
            `Waiting for ${name} to end its turn; Ctrl-C ends the waiting, not the agent.`,
            hintLine(io.paint, `to end its turn now: ov attach ${name} --interrupt`),
            hintLine(io.paint, `to see what it does meanwhile: ov logs ${name} --follow`),
          ];
    for (const line of lines) io.say(line);
  };
  const onOpening = (): void =>
    io.say(`Opening ${name} here. Leave its program as usual, and the agent goes on by itself.`);
  const interrupt = isOn(flags.interrupt);
  const onItem = (step: AttachStep): void => (step.kind === "waiting" ? onWaiting(step.waitedMs) : onOpening());
  const done = await app.follow("agent.attach", { name, interrupt }, { onItem });
  if (!done.ok) return done;
  const { agentName, exitCode, signal, ended } = done.value;
  const how = exitCode === 0 ? "" : signal === null ? ` (its program exited ${exitCode})` : ` (ended by ${signal})`;
  const json = attachedAgentView(done.value);
  if (ended !== null) {
    const text = warningLine(io.paint, `${agentName} is not handed back: it has ended meanwhile (${ended})`);
    return ok({ json, text, quietText: "" });
  }
  const text = `${successLine(io.paint, "Handed back", agentName)}${how}`;
  return ok({ json, text, quietText: "" });
};

export const recover: Handler = async ({ app, args, flags, io }) => {
  const captured = await app.call("environment.capture", {});
  if (!captured.ok) return captured;
  const environment = captured.value;
  // Looked up before the engine takes up the worktree again.
  const unsettled = isOn(flags.fresh) ? undefined : await app.call("agent.listUnsettled", { of: word(args.agent) });
  const reply = await app.call("agent.recover", { of: word(args.agent), fresh: isOn(flags.fresh), environment });
  if (!reply.ok) return reply;
  const { agentName, generation } = reply.value;
  const warnings = [...(unsettled?.ok === true ? unsettled.value.lines : []), ...reply.value.warnings];
  for (const warning of warnings) io.warn(warning);
  const text = successLine(io.paint, `Recovered as generation ${generation}:`, agentName);
  return ok({ json: { ...seatView(reply.value), warnings }, text, quietText: agentName });
};

export const release: Handler = async ({ app, args, flags, io }) => {
  // Looked up before the engine takes the worktree away.
  const unsettled = await app.call("agent.listUnsettled", { of: word(args.agent) });
  const reply = await app.call("agent.release", { name: word(args.agent), reason: text(flags.reason) });
  if (!reply.ok) return reply;
  const { agentName, alreadyReleased, released } = reply.value;
  const unsettledLines = unsettled.ok ? unsettled.value.lines : [];
  for (const line of unsettledLines) io.warn(line);
  if (unsettledLines.length > 0)
    io.warn(`a snapshot keeps it when the worktree goes; to see it: ov snapshots show ${agentName}`);
  const said = alreadyReleased
    ? `${agentName} was released before.`
    : successLine(io.paint, "Released", released.join(", "));
  return ok({ json: releasedAgentsView(reply.value), text: said });
};

export const nudge: Handler = async ({ app, args, flags, io }) => {
  const sent = await app.call("agent.nudge", {
    name: word(args.agent),
    message: texts(args.message)?.join(" "),
    from: text(flags.from),
    force: isOn(flags.force),
  });
  if (!sent.ok) return sent;
  const { agentName, delivered, reason } = sent.value;
  if (!delivered) {
    const line = warningLine(io.paint, `Not sent: ${reason ?? ""}`, "--force sends it all the same");
    return ok({
      json: { ...nudgeView(sent.value), success: false, error: `not sent: ${reason ?? ""}` },
      text: line,
      exit: exits.busy,
    });
  }
  const why = reason === null ? "" : ` (${visibleLine(reason)})`;
  return ok({
    json: nudgeView(sent.value),
    text: `${successLine(io.paint, "Nudge sent to", agentName)}${why}`,
    quietText: "",
  });
};

export const diff: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const asked = word(args.agent).trim();
  // No agent has such a name, and every branch of ours does.
  if (asked.includes("/")) return diffOfBranch(call, asked);
  const work = await app.call("agent.diff", { name: asked.toLowerCase() });
  if (!work.ok) return work;
  const { agentName, patch, skipped, worktreeGone } = work.value;
  const files = patchedFiles(patch).map(changedFileView);
  if (skipped.length > 0) io.warn(`left out: ${skipped.map(visibleLine).join(", ")}`);
  // Standard output carries the patch for other programs, so this line goes to standard error.
  if (files.length === 0)
    io.say(`${agentName} has ${worktreeGone ? "committed" : "changed"} nothing since it started.`);
  if (worktreeGone) io.say(`Its worktree is gone; what was kept of it: ov snapshots list --agent ${agentName}`);
  const isShort = isOn(flags.stat);
  return shownPatch(agentWorkView(work.value, files, { patch: !isShort }), { patch, files, isShort });
};

async function diffOfBranch({ app, flags, io }: Parameters<Handler>[0], branch: string): ReturnType<Handler> {
  const found = await app.call("branch.diff", { branch });
  if (!found.ok) return found;
  const { against, patch } = found.value;
  const files = patchedFiles(patch).map(changedFileView);
  if (files.length === 0) io.say(`${visibleLine(branch)} changes nothing against ${visibleLine(against)}.`);
  const isShort = isOn(flags.stat);
  return shownPatch(branchWorkView(found.value, files, { patch: !isShort }), { patch, files, isShort });
}

function shownPatch(
  json: Readonly<Record<string, unknown>>,
  shown: { readonly patch: string; readonly files: readonly ChangedFile[]; readonly isShort: boolean },
): Awaited<ReturnType<Handler>> {
  const { patch, files, isShort } = shown;
  if (!isShort) return ok({ json, text: isTerminal(1) ? visibleText(patch) : patch, exact: true });
  const rows = files.map(({ path, added, removed }) => [`+${added}`, `-${removed}`, path]);
  return ok({
    json,
    text: files.map(({ path, added, removed }) => `+${added} -${removed} ${visibleLine(path)}`).join("\n"),
    rows: { columns: ["added", "removed", "file"], cells: rows, objects: files },
  });
}
