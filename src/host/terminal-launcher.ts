import type { TerminalLauncher, TerminalProcess } from "../ports/terminal.ts";
import { startGate } from "./agent-launcher.ts";
import { endTree } from "./linux/end-tree.ts";
import { identityOf } from "./linux/process-table.ts";

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
      exited: child.exited.then(() => {
        listen("off");
        return {
          code: child.signalCode === null ? child.exitCode : null,
          signal: child.signalCode === null ? null : String(child.signalCode),
        };
      }),
    };
  },
};
