import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import type { HeadCapability } from "../../../../usecases/coordinators/find.ts";
import type { Remaining } from "../../../../usecases/coordinators/remaining.ts";
import type { HeadView } from "../../../../usecases/coordinators/status.ts";
import type { App } from "../../app.ts";
import type { Handler, Io } from "../../command.ts";
import { text } from "../../given.ts";
import { hintLine, successLine } from "../../marks.ts";
import { unhandedWords } from "../inbox/render.ts";
import { questionOf } from "./head-flags.ts";

/** Stops one that leads a run and ends that run; everybody else's stays as it is. */
export const stop =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const { app, flags, io } = call;
    const question = questionOf(capability, call);
    const found = await app.call("coordinator.status", question);
    if (!found.ok) return found;
    const { asked } = found.value;
    const over = asked === null || (!asked.running && asked.run?.run.status !== "active");
    if (over) {
      // Says in the same words as the other commands who is missing or has ended.
      const missing = await app.call("coordinator.find", question);
      if (!missing.ok) return missing;
      throw new Error("somebody who is there was not found");
    }
    const workers = text(flags.workers) ?? "leave";
    const drained = workers === "drain" ? await drain(app, io, asked) : ok(null);
    if (!drained.ok) return drained;
    const { name, runId } = asked.agent;
    const stopped = asked.running ? await end(app, name, workers === "stop") : ok({ left: asked.workers, stopped: [] });
    if (!stopped.ok) return stopped;
    const monitors = await endMonitors(app, runId);
    if (!monitors.ok) return monitors;
    const finished = await app.call("coordinator.finish", { capability, name });
    if (!finished.ok) return finished;
    const { runCompleted, unpromoted, unhanded, agentId } = finished.value;
    const left = stopped.value.left.filter((other) => !monitors.value.includes(other));
    return ok({
      json: {
        stopped: true,
        sessionId: agentId,
        agentName: name,
        watchdogStopped: false,
        monitorStopped: monitors.value.length > 0,
        runCompleted,
        runId,
        workers,
        workersStopped: stopped.value.stopped,
        workersLeft: left,
        unhanded,
      },
      text: [
        successLine(io.paint, `Stopped ${capability}`, name),
        hintLine(io.paint, `run ${runId} ${runCompleted ? "is completed" : "was over before"}`),
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
async function drain(app: App, io: Io, { agent }: HeadView): Promise<Result<null, Refusal>> {
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
