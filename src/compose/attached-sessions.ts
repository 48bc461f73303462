import type { AttachedPorts } from "../engine/attached/hand-back.ts";
import { handBack } from "../engine/attached/hand-back.ts";
import { runAttached } from "../engine/attached/session.ts";
import { terminalLauncher } from "../host/agent-launcher.ts";
import { randomIds } from "../host/ids.ts";
import { shimDir, toolServer } from "../host/own-program.ts";
import { linuxProcesses } from "../host/processes.ts";
import { turnFiles } from "../host/turn-files.ts";
import type { AttachedSessions } from "../ports/agent-process.ts";
import type { Store } from "../ports/store.ts";
import { projectInstructions, projectWorktrees, sandboxOf } from "./agent-parts.ts";
import { clockFor, contactOf, type Environment, openStore, type Project, settingsOf } from "./project.ts";
import { runtimeOf } from "./runtimes.ts";

export function attachedSessions(project: Project): AttachedSessions {
  const store = openStore(project, { life: "command" });
  const ports = portsOf(project, store);
  return {
    self: linuxProcesses.self(),
    open: (hold) => runAttached(ports, hold),
    handBack: (lease, reason) => handBack(ports, lease, reason),
    close: async () => {
      await store.close();
      // The agent may go on at once now.
      await contactOf(project).ensure();
    },
  };
}

/** A program at a terminal must be told what kind of terminal it has. */
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
    runtime: runtimeOf,
    tools: toolServer(),
    sandbox: sandboxOf(project),
    baseEnvironment: {
      ...terminalEnvironment(env),
      HOME: env.HOME ?? "/",
      PATH: `${shimDir(dir)}:${env.PATH ?? "/usr/bin:/bin"}`,
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
