import { closeSync, openSync } from "node:fs";
import type { AgentLauncher, GatedProcess, TerminalLauncher, TerminalProcess } from "../ports/agent-process.ts";
import { endTree } from "./linux/end-tree.ts";
import { takeMark } from "./linux/mark.ts";
import { identityOf } from "./linux/process-table.ts";
import { feed } from "./turn-files.ts";

/**
 * Takes its mark, then waits on a fourth pipe before it becomes the agent. End of input there means that the
 * supervisor is gone, and with it the only process that knows about this one.
 */
export const startGate = gate("");
const openGate = gate(feed);

function gate(prepare: string): string {
  return `${takeMark}read -r _ <&3 || exit 125; exec 3<&-; ${prepare}exec "$@"`;
}

/** Starts agents behind a gate, each leading its own process group and session. */
export const agentLauncher: AgentLauncher = {
  start: ({ argv, mark, env, cwd, outputFile, errorFile, openInput }): GatedProcess => {
    const words =
      openInput === null ? [startGate, "ov-agent", String(mark)] : [openGate, "ov-agent", String(mark), openInput];
    const child = withFiles([outputFile, errorFile], ([output, errors]) =>
      Bun.spawn({
        cmd: ["/bin/sh", "-c", ...words, ...argv],
        env: { ...env },
        cwd,
        stdio: ["pipe", output, errors, "pipe"],
        detached: true,
      }),
    );
    const gateFd = child.stdio[3];
    const identity = identityOf(child.pid);
    if (typeof gateFd !== "number" || identity === undefined)
      throw new Error("the agent's process could not be started");
    const gateEnd = Bun.file(gateFd).writer();
    return {
      identity,
      release: async (input) => {
        gateEnd.write("go\n");
        await gateEnd.end();
        void give(child.stdin, openInput === null ? input : "");
      },
      // The writer has a copy of the gate's descriptor, so ending it closes nothing; and a shell that waits holds nothing.
      abandon: () => child.kill("SIGKILL"),
      exited: child.exited.then(() => ({
        code: child.signalCode === null ? child.exitCode : null,
        signal: child.signalCode === null ? null : String(child.signalCode),
      })),
    };
  },
};

/** Opens two files for appending, and closes them after `use`, also after a failure. */
function withFiles<T>([first, second]: readonly [string, string], use: (files: readonly [number, number]) => T): T {
  const one = openSync(first, "a", 0o600);
  try {
    const two = openSync(second, "a", 0o600);
    try {
      return use([one, two]);
    } finally {
      closeSync(two);
    }
  } finally {
    closeSync(one);
  }
}

/**
 * Not awaited: an agent that reads its input slowly, or never, must be followed meanwhile. If it ends before it has
 * read everything, its end says more than the broken pipe.
 */
async function give(stdin: Bun.FileSink, input: string): Promise<void> {
  try {
    await stdin.write(input);
    await stdin.end();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
  }
}

const graceMs = 2_000;

/** Starts programs behind a gate, in our own process group: the terminal belongs to both of us. */
export const terminalLauncher: TerminalLauncher = {
  start: ({ argv, mark, env, cwd }): TerminalProcess => {
    const child = Bun.spawn({
      cmd: ["/bin/sh", "-c", startGate, "ov-agent", String(mark), ...argv],
      env: { ...env },
      cwd,
      stdio: ["inherit", "inherit", "inherit", "pipe"],
    });
    const gateFd = child.stdio[3];
    const identity = identityOf(child.pid);
    if (typeof gateFd !== "number" || identity === undefined) throw new Error("the program could not be started");
    const gateEnd = Bun.file(gateFd).writer();
    // What the keyboard sends reaches us too, and is meant for it; what asks us to end must end it first.
    const ignore = (): void => {};
    const end = (): void => void endTree(identity, graceMs);
    const listen = (change: "on" | "off"): void => {
      for (const signal of ["SIGINT", "SIGQUIT"] as const) process[change](signal, ignore);
      for (const signal of ["SIGTERM", "SIGHUP"] as const) process[change](signal, end);
    };
    return {
      identity,
      release: async () => {
        listen("on");
        gateEnd.write("go\n");
        await gateEnd.end();
      },
      // The writer has a copy of the gate's descriptor, so ending it closes nothing; and a shell that waits holds nothing.
      abandon: () => child.kill("SIGKILL"),
      exited: child.exited.then(async () => {
        listen("off");
        // A process that it left behind could still type.
        await endTree(identity, graceMs, { mark });
        await dropUnreadInput();
        return {
          code: child.signalCode === null ? child.exitCode : null,
          signal: child.signalCode === null ? null : String(child.signalCode),
        };
      }),
    };
  },
};

/**
 * Drops unread text in the terminal's input queue. Where the kernel allows it (`dev.tty.legacy_tiocsti`), a program can
 * put text there that the person's shell would run as soon as we have ended.
 */
async function dropUnreadInput(): Promise<void> {
  const { isatty } = await import("node:tty");
  if (!isatty(0)) return;
  const child = Bun.spawn({ cmd: ["/bin/sh", "-c", dropInput], stdio: ["inherit", "ignore", "ignore"] });
  await child.exited;
}

/** Without line editing a read returns all waiting input, half a line too, and ends when there is none. */
const dropInput = `
kept=$(stty -g) || exit 0
stty -icanon -echo min 0 time 0 && cat >/dev/null
stty "$kept"`;
