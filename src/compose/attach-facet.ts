import { attachLease } from "../domain/agent/attachment.ts";
import type { Refusal } from "../domain/refusal.ts";
import { ok, type Result } from "../domain/result.ts";
import { handBack } from "../engine/attached/hand-back.ts";
import type { AttachedPorts } from "../engine/attached/ports.ts";
import { runAttached } from "../engine/attached/session.ts";
import { randomIds } from "../host/ids.ts";
import { linuxProcesses } from "../host/processes.ts";
import { terminalLauncher } from "../host/terminal-launcher.ts";
import { turnFiles } from "../host/turn-files.ts";
import type { Store } from "../ports/store.ts";
import type { App } from "../surfaces/cli/app.ts";
import type { AttachCommand, AttachFacet, AttachReport } from "../surfaces/cli/facets/attach.ts";
import type { AttachHold } from "../usecases/agents/attach.ts";
import { projectInstructions } from "./instructions.ts";
import { shimDir } from "./ov-shim.ts";
import { clockFor, doorOf, type Environment, openStore, type Project, settingsOf } from "./project.ts";
import { projectWorktrees } from "./project-worktrees.ts";
import { runtimeById } from "./runtimes.ts";
import { toolServer } from "./tool-server.ts";

const graceMs = 2_000;
const lookMs = 100;

/** Taking agents over from this terminal. */
export function makeAttachFacet(project: Project, call: App["call"]): AttachFacet {
  return {
    attach: async (command) => {
      const store = openStore(project, { life: "command" });
      try {
        const ports = portsOf(project, store);
        const freed = await freeIfLost(ports, call, command.name);
        if (!freed.ok) return freed;
        const held = await call("agent.attach", { name: command.name, process: linuxProcesses.self() });
        return held.ok ? await work(ports, call, command, held.value) : held;
      } finally {
        await store.close();
        // The agent may go on at once now.
        await doorOf(project).ensure();
      }
    },
  };
}

/** An engine would find it too; whoever waits in front of it need not wait for that. */
async function freeIfLost(ports: AttachedPorts, call: App["call"], name: string): Promise<Result<void, Refusal>> {
  const found = await call("agent.attachment", { name });
  if (!found.ok) return found;
  const { held } = found.value;
  if (held === null) return ok(undefined);
  const gone = held.holder === undefined || linuxProcesses.check(held.holder) === "gone";
  if (gone) await handBack(ports, held.lease, "gone");
  return ok(undefined);
}

async function work(
  ports: AttachedPorts,
  call: App["call"],
  command: AttachCommand,
  hold: AttachHold,
): Promise<Result<AttachReport, Refusal>> {
  const { agentName, generation, reopened, fence, processId } = hold;
  try {
    const interrupted = await untilFree(call, command, hold.agentId);
    if (!interrupted.ok) return interrupted;
    command.onOpening();
    const ended = await runAttached(ports, hold);
    if (!ended.ok) return ended;
    const { code: exitCode, signal } = ended.value;
    return ok({ agentName, generation, reopened, interrupted: interrupted.value, exitCode, signal });
  } finally {
    await handBack(ports, { name: attachLease(agentName), fence, beat: 0, processId }, "left");
  }
}

/** Waits until no turn runs for it. True when one was ended for that. */
async function untilFree(
  call: App["call"],
  { interrupt, onWaiting }: AttachCommand,
  agentId: string,
): Promise<Result<boolean, Refusal>> {
  const ended = new Set<string>();
  const began = performance.now();
  let sayNextAt = 0;
  for (;;) {
    const progress = await call("agent.attachProgress", { agentId });
    if (!progress.ok) return progress;
    const { running } = progress.value;
    if (running === null) return ok(ended.size > 0);
    const waitedMs = performance.now() - began;
    if (!interrupt && waitedMs >= sayNextAt) {
      onWaiting(waitedMs);
      sayNextAt = waitedMs + againMs;
    }
    for (const process of interrupt ? running.processes : []) {
      if (ended.has(process.id)) continue;
      ended.add(process.id);
      await linuxProcesses.endTree(process, graceMs, { turnId: running.turnId });
    }
    await new Promise((wake) => setTimeout(wake, lookMs));
  }
}

/** A waiting user is told this often that the command still waits. */
const againMs = 30_000;

/** Whoever starts a program at a terminal must tell it what kind of terminal that is. */
const ofTerminals = ["TERM", "COLORTERM", "TERM_PROGRAM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

function portsOf(project: Project, store: Store): AttachedPorts {
  const { env, dir, root } = project;
  return {
    store,
    clock: clockFor(env),
    ids: randomIds,
    processes: linuxProcesses,
    worktrees: projectWorktrees(project),
    rules: settingsOf(project),
    files: turnFiles(dir),
    instructions: projectInstructions(project),
    terminal: terminalLauncher,
    runtime: runtimeById,
    tools: toolServer(),
    baseEnvironment: {
      ...terminalEnvironment(env),
      HOME: env.HOME ?? "/",
      PATH: `${shimDir(project)}:${env.PATH ?? "/usr/bin:/bin"}`,
      OVERSTORY_PROJECT_ROOT: root,
    },
  };
}

const terminalEnvironment = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    ofTerminals.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
