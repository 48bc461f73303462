import { headView, stoppedHeadView } from "../../../contract/views/agent.ts";
import { sentView } from "../../../contract/views/mail.ts";
import { exitCheckView } from "../../../contract/views/run.ts";
import { statusOf, waitWords } from "../../../domain/agent/status.ts";
import { exitTriggers } from "../../../domain/coordination/exit-triggers.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { CheckReply } from "../../../usecases/coordinators/check-complete.ts";
import type { HeadCapability } from "../../../usecases/coordinators/find.ts";
import type { HeadStanding, Remaining } from "../../../usecases/coordinators/status.ts";
import { exits } from "../../shared/exits.ts";
import { ago } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Io, Outcome, Paint } from "../command.ts";
import { integer, isOn, text } from "../given.ts";
import { hintLine, statusIcon, statusWords, successLine, warningLine } from "../marks.ts";
import { teller } from "../waiting.ts";
import { givenBody } from "./mail.ts";
import { leaderlessLine, unhandedWords } from "./operator-render.ts";

/** Gives a coordinator or orchestrator that lives something to do. */
export const send = toHead(async ({ app, flags, io }, { agentName, body }) => {
  const sent = await app.call("mail.send", {
    to: agentName,
    subject: text(flags.subject) ?? "operator dispatch",
    body,
    type: "dispatch",
  });
  if (!sent.ok) return sent;
  const { id, woken, warnings, duplicate } = sent.value;
  for (const warning of warnings) io.warn(visibleLine(warning));
  return ok({
    json: { ...sentView(sent.value), nudged: woken.includes(agentName), agentName },
    text: duplicate
      ? `Already sent as ${io.paint.accent(id ?? "")} less than a minute ago; nothing was sent again.`
      : successLine(io.paint, `Sent to ${agentName}:`, id ?? ""),
    quietText: id ?? "",
  });
});

const defaultSeconds = 120;

/** Asks a coordinator or orchestrator that lives, and waits for its answer in the thread of the question. */
export const ask = toHead(async ({ app, flags, io }, { agentName, body }) => {
  const correlationId = crypto.randomUUID();
  const sent = await app.call("mail.send", {
    to: agentName,
    subject: text(flags.subject) ?? "operator request",
    body,
    type: "question",
    payload: JSON.stringify({ correlationId }),
  });
  if (!sent.ok) return sent;
  const sentId = sent.value.id ?? "";
  const seconds = integer(flags.timeout) ?? defaultSeconds;
  const tell = teller(io);
  const onItem = (): void =>
    tell(`waiting for the answer of ${agentName}, ${seconds} s at most (Ctrl-C stops only the waiting)`);
  const waited = await app.follow("coordinator.followAnswer", { sentId, patienceMs: seconds * 1000 }, { onItem });
  if (!waited.ok) return waited;
  const json = { correlationId, sentId, agentName };
  const { answer, latencyMs, ended } = waited.value;
  if (answer === null) {
    const why = ended ? `${agentName} has ended without an answer` : `no answer from ${agentName} within ${seconds} s`;
    io.warn(`${why}; what it may still say is in its thread: ov mail list --thread ${sentId}`);
    return ok(unanswered({ ...json, error: why, ended }));
  }
  const { id: replyId, subject, body: said, payload } = answer;
  return ok({
    json: { ...json, replyId, subject, body: said, payload: parsed(payload), latencyMs },
    text: visibleText(said),
    // The caller has read the answer now. An answer that was read before, or lies in another inbox, is no failure.
    afterPrint: async () => void (await app.call("mail.read", { id: replyId })),
  });
});

const unanswered = (json: { readonly ended: boolean; readonly error: string }): Outcome => ({
  json: { success: false, ...json, exitCode: json.ended ? exits.upstream : exits.timeout },
  text: "",
  exit: json.ended ? exits.upstream : exits.timeout,
});

/** As data where it is data. */
function parsed(payload: string | null): unknown {
  if (payload === null) return null;
  try {
    return JSON.parse(payload);
  } catch {
    // Free text in a payload is allowed; it is shown as it was written.
    return payload;
  }
}

/** Shows one coordinator, and the other agents that lead a run. */
export const status =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const { app, io } = call;
    const found = await app.call("coordinator.status", questionOf(capability, call));
    if (!found.ok) return found;
    const { asked, all, monitorRunning } = found.value;
    const watchdogRunning = app.engine.status() !== undefined;
    const others = asked?.running === true || all.length === 0 ? [] : all;
    const views = asked === null ? all : [asked, ...others.filter(({ agent }) => agent.id !== asked.agent.id)];
    const nobody = [`No ${capability} runs.`, hintLine(io.paint, `start one: ov ${capability} start`)];
    const now = Date.now();
    return ok({
      json: {
        ...(asked === null ? { running: false } : headView(asked)),
        watchdogRunning,
        monitorRunning,
        [`${capability}s`]: all.map(headView),
      },
      text: (views.length === 0 ? nobody : views.flatMap((view) => lines(io.paint, view, now))).join("\n"),
    });
  };

function lines(paint: Paint, standing: HeadStanding, now: number): readonly string[] {
  const { agent, run, running, unread, workers, waits, trouble } = standing;
  const led = { runId: run?.run.id ?? "", coordinatorName: agent.name, capability: agent.capability };
  const head = `${statusIcon(paint, agent)} ${paint.accent(agent.name)} ${statusWords(paint, agent)}`;
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(9))} ${visibleLine(value)}`;
  const landing = run?.run.landingBranch ?? run?.run.targetBranch ?? null;
  return [
    `${head} ${paint.dim(ago(agent.lastActivityAt, now))}`,
    ...(trouble.problem === null ? [] : [`  ${visibleLine(trouble.problem)}`]),
    ...(trouble.advice === null ? [] : [hintLine(paint, visibleLine(trouble.advice))]),
    fact("run", `${agent.runId}${run === null ? "" : ` (${run.status})`}`),
    ...(run === null || run.run.objective === null ? [] : [fact("objective", run.run.objective)]),
    ...(landing === null ? [] : [fact("landing", landing)]),
    fact("agents", workers.length === 0 ? "none at work" : workers.join(", ")),
    ...(waits.length === 0 ? [] : [fact("waits for", waits.map(waitWords).join(", "))]),
    ...(unread === 0 ? [] : [fact("unread", String(unread))]),
    ...(running || run === null || run.status !== "active" ? [] : [leaderlessLine(paint, led)]),
  ];
}

/** Stops one that leads a run and ends that run; all other runs stay as they are. */
export const stop =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const { app, flags, io } = call;
    const question = questionOf(capability, call);
    const found = await app.call("coordinator.status", question);
    if (!found.ok) return found;
    const { asked } = found.value;
    if (asked === null) {
      // Says in the same words as the other commands that there is none.
      const missing = await app.call("coordinator.find", question);
      if (!missing.ok) return missing;
      throw new Error("the coordinator was listed but not found");
    }
    const workers = text(flags.workers) ?? "leave";
    if (!asked.running && asked.run?.run.status !== "active") return ok(endedAlready(io.paint, asked, workers));
    const drained = workers === "drain" ? await drain(app, io, asked) : ok(null);
    if (!drained.ok) return drained;
    const { name, runId } = asked.agent;
    const stopped = asked.running ? await end(app, name, workers === "stop") : ok({ left: asked.workers, stopped: [] });
    if (!stopped.ok) return stopped;
    const monitors = await endMonitors(app, runId);
    if (!monitors.ok) return monitors;
    const finished = await app.call("coordinator.finish", { capability, name });
    if (!finished.ok) return finished;
    const { runCompleted, open, unpromoted, unhanded, agentId } = finished.value;
    const left = stopped.value.left.filter((other) => !monitors.value.includes(other));
    return ok({
      json: stoppedHeadView({
        agentId,
        agentName: name,
        monitorStopped: monitors.value.length > 0,
        runCompleted,
        runId,
        workers,
        workersStopped: stopped.value.stopped,
        workersLeft: left,
        leftOpen: open.map(({ what }) => what),
        unhanded,
      }),
      text: [
        successLine(io.paint, `Stopped ${capability}`, name),
        hintLine(io.paint, `run ${runId} ${runCompleted ? "is completed" : "was over before"}`),
        ...open.map(({ what }) => hintLine(io.paint, `left open: ${visibleLine(what)}`)),
        ...(left.length === 0 ? [] : [hintLine(io.paint, `going on without it: ${left.join(", ")}`)]),
        ...(unpromoted === null
          ? []
          : [
              hintLine(
                io.paint,
                `what has landed is on ${unpromoted}; take it over with: ov merge promote --run ${runId}`,
              ),
            ]),
        ...unhanded.map((one) => hintLine(io.paint, unhandedWords(one))),
      ].join("\n"),
      quietText: "",
    });
  };

/** As `ov stop` does: the request is fulfilled already. The remaining agents are listed again. */
function endedAlready(paint: Paint, { agent, workers: left }: HeadStanding, workers: string): Outcome {
  const { id, name, runId } = agent;
  return {
    json: stoppedHeadView({
      agentId: id,
      agentName: name,
      monitorStopped: false,
      runCompleted: false,
      runId,
      workers,
      workersStopped: [],
      workersLeft: left,
      leftOpen: [],
      unhanded: [],
    }),
    text: [
      `${paint.accent(name)} had ended already`,
      ...(left.length === 0
        ? []
        : [hintLine(paint, `going on without it: ${left.join(", ")}; to stop one: ov stop <name>`)]),
    ].join("\n"),
    quietText: "",
  };
}

interface Ended {
  readonly left: readonly string[];
  readonly stopped: readonly string[];
}

async function end(app: App, name: string, tree: boolean): Promise<Result<Ended, Refusal>> {
  const stopped = await app.call("agent.stop", { name, tree, force: false });
  if (!stopped.ok) return stopped;
  return ok({ left: stopped.value.liveChildren, stopped: stopped.value.children.map(({ agentName }) => agentName) });
}

/** Only those of this run: another coordinator may have one of its own. */
async function endMonitors(app: App, runId: string): Promise<Result<readonly string[], Refusal>> {
  const found = await app.call("agent.discover", { capability: "monitor", all: false });
  if (!found.ok) return found;
  const names = found.value.agents.filter((agent) => agent.runId === runId).map(({ name }) => name);
  for (const name of names) {
    const ended = await end(app, name, false);
    if (!ended.ok) return ended;
  }
  return ok(names);
}

/** Asks it to begin nothing more, and waits until what runs has come to its end. */
async function drain(app: App, io: Io, { agent }: HeadStanding): Promise<Result<null, Refusal>> {
  const { name, runId } = agent;
  const asked = await app.call("mail.send", { to: name, type: "shutdown", subject: "shutdown", body: draining });
  if (!asked.ok) return asked;
  let told = "";
  const onItem = (left: Remaining): void => {
    const words = remainingWords(left);
    if (words !== told) io.say(`Waiting for ${words}`);
    told = words;
  };
  return app.follow("coordinator.followRemaining", { runId }, { onItem });
}

const draining =
  "You will be stopped when those who work now have finished. Start nobody new; answer what they ask, and send the " +
  "operator a last status.";

const remainingWords = ({ agents, branches }: Remaining): string =>
  [...agents, ...branches.map((branch) => `the landing of ${branch}`)].join(", ");

export const checkComplete: Handler = async (call) => {
  const { app, flags, io } = call;
  const clean = flags["require-clean"];
  const requireClean = typeof clean === "boolean" ? clean : undefined;
  const found = await app.call("coordinator.check", { ...questionOf("coordinator", call), requireClean });
  if (!found.ok) return found;
  return ok({
    json: exitCheckView(found.value),
    text: completionLines(io.paint, found.value).join("\n"),
    exit: isOn(flags["exit-code"]) && !found.value.complete ? exits.check : exits.ok,
  });
};

/** The facts first. The triggers are the operator's settings, so agents are not told about them. */
function completionLines(paint: Paint, { complete, triggers, failures, runId, open, byOperator, which }: CheckReply) {
  const on = exitTriggers.filter((name) => triggers[name].enabled);
  const facts =
    open.length === 0
      ? [successLine(paint, "Nothing is open in", runId), hintLine(paint, `end it: ov run complete${which}`)]
      : [
          warningLine(paint, `${runId} is not ready to end:`),
          ...open.flatMap(({ what, fix }) => [`  ${visibleLine(what)}`, `  ${hintLine(paint, visibleLine(fix))}`]),
        ];
  const judged = complete ? "complete" : "not complete";
  return [
    ...facts,
    ...failures.map(({ name, capability, outcome }) => {
      const { words } = statusOf({ state: "completed", outcome, releasedAt: null });
      return hintLine(paint, `${name} (${capability}): ${words}`);
    }),
    ...(byOperator && on.length > 0 ? [`By your triggers it is ${judged}:`] : []),
    ...(byOperator ? on : []).map((name) => {
      const { met, detail } = triggers[name];
      return `  ${name}: ${met ? "met" : "not met"} ${paint.dim(`(${visibleLine(detail)})`)}`;
    }),
  ];
}

export const questionOf = (capability: HeadCapability, { flags }: Pick<Call, "flags">) => ({
  capability,
  name: text(flags.name),
});

interface Addressed {
  readonly agentName: string;
  readonly body: string;
}

/** A command that writes to the coordinator or orchestrator that is meant. */
function toHead(write: (call: Call, to: Addressed) => ReturnType<Handler>) {
  return (capability: HeadCapability): Handler =>
    async (call) => {
      const found = await call.app.call("coordinator.find", questionOf(capability, call));
      if (!found.ok) return found;
      const body = await givenBody(call);
      return body.ok ? write(call, { agentName: found.value.agentName, body: body.value }) : body;
    };
}
