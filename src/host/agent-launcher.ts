import { closeSync, openSync } from "node:fs";
import type { AgentLauncher, GatedProcess } from "../ports/agent-process.ts";
import { takeMark } from "./linux/mark.ts";
import { identityOf } from "./linux/process-table.ts";
import { feed } from "./open-input.ts";

/**
 * Takes its mark, then waits on a fourth pipe before it becomes the agent. End of input there means that whoever started
 * us is gone, and with it everyone who would know about this process.
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

/** Opens files to be added to, and closes our ends of them whatever happens. */
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
 * Not waited for: an agent that is slow to read, or never does, must be followed meanwhile. One that ended before it had
 * read everything is known by its end, which says more than the broken pipe.
 */
async function give(stdin: Bun.FileSink, input: string): Promise<void> {
  try {
    await stdin.write(input);
    await stdin.end();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
  }
}
