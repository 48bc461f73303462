import { writeSync } from "node:fs";
import type { ToolGuard } from "../ports/runtime.ts";
import { hookFormat } from "./runtime-names.ts";
import { version } from "./version.ts";

/**
 * One program, four lives: a command, the engine, the supervisor of a turn, the scripted agent. Each life loads only
 * the modules it needs; `--version` loads nothing.
 */
async function main(argv: readonly string[]): Promise<number> {
  const [first, second] = argv;
  if (argv.length === 1 && (first === "--version" || first === "-v")) {
    return print(`${version}\n`);
  }
  if (first === "scripted-agent") {
    const { runScriptedAgent } = await import("../runtimes/scripted/program/main.ts");
    return runScriptedAgent(argv.slice(1), process.env);
  }
  if ((first === "engine" || first === "turn") && second === "run") {
    const { runService } = await import("./services.ts");
    return runService(argv);
  }
  let read: string | undefined;
  if (first === "hook" && argv.includes("--rules")) {
    const { quickGuard } = await import("../surfaces/cli/commands/quick-guard.ts");
    const judged = await quickGuard(argv, { toolGuard: turnGuard, hookFormat });
    if (judged.allowed) return print(judged.say);
    read = judged.input;
  }
  const { runCommand } = await import("./app.ts");
  return runCommand(argv, read);
}

/** Rules of the agent that the file named by the call belongs to. */
const turnGuard = async (): Promise<ToolGuard> => {
  const { toolGuard } = await import("../host/tool-guard.ts");
  const noState = () => Promise.reject(new Error("the rules of a turn are in the file that it names"));
  return toolGuard(process.env, process.cwd(), noState);
};

/** A reader that went away, as in `ov --version | true`, is no failure. */
function print(text: string): number {
  try {
    if (text !== "") writeSync(1, text);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
  }
  return 0;
}

// The platform's stream objects take longer to load than a hook may take: written synchronously to the descriptors.
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    writeSync(2, `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
