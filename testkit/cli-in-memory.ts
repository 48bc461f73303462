import type { App } from "../src/surfaces/cli/app.ts";
import type { Command } from "../src/surfaces/cli/command.ts";
import { runCli } from "../src/surfaces/cli/run.ts";
import type { Sink } from "../src/surfaces/cli/sink.ts";

type Call = (name: string, request: unknown) => Promise<unknown>;

/** Runs real commands. `call` answers their operations, and only the terminal is kept in memory. */
export async function cliInMemory(commands: readonly Command[], call: Call, argv: readonly string[]) {
  const said = { out: "", err: "" };
  const sink = (to: "out" | "err"): Sink => ({
    write: (text) => {
      said[to] += text;
      return "written";
    },
    isTTY: () => false,
    isPipe: () => false,
    columns: () => undefined,
  });
  const exit = await runCli({
    argv: [...argv],
    env: {},
    tree: { name: "ov", summary: "", commands: [...commands] },
    version: "0",
    // These commands use no other part of the program.
    makeApp: () => ({ version: "0", notices: async () => [], call }) as unknown as App,
    stdout: sink("out"),
    stderr: sink("err"),
    stdin: async () => undefined,
  });
  return { exit, ...said };
}
