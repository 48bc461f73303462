import { writeSync } from "node:fs";
import { version } from "./version.ts";

/**
 * One program, four lives: a command, the engine, the supervisor of a turn, the scripted agent. Each loads only what it
 * needs; the version needs nothing.
 */
async function main(argv: readonly string[]): Promise<number> {
  const [first, second] = argv;
  if (argv.length === 1 && (first === "--version" || first === "-v")) {
    return printVersion();
  }
  if (first === "scripted-agent") {
    const { runScriptedAgent } = await import("../runtimes/scripted/program/main.ts");
    return runScriptedAgent(argv.slice(1), process.env);
  }
  if ((first === "engine" || first === "turn") && second === "run") {
    const { runService } = await import("./services.ts");
    return runService(argv);
  }
  const { runCommand } = await import("./app.ts");
  return runCommand(argv);
}

/** A reader that went away, as in `ov --version | true`, is no failure. */
function printVersion(): number {
  try {
    writeSync(1, `${version}\n`);
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
