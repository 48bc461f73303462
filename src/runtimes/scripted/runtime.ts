import type { Runtime } from "../../ports/runtime.ts";
import { streamJsonReader } from "../claude/stream-json.ts";
import { streamJsonArguments, streamJsonInput } from "../claude/stream-json-launch.ts";

/** Our own agent, which speaks as Claude Code does: a real process that follows a scenario file and costs nothing. `program` is how it is started. */
export const scriptedRuntime = (program: readonly string[]): Runtime => ({
  id: "scripted",
  program: null,
  instructionFile: ".claude/CLAUDE.md",
  guardedFiles: [],
  environment: ["OVERSTORY_SCENARIO", "OVERSTORY_SCENARIO_STATE"],
  complaints: [],
  advice: {},
  drivers: [
    {
      id: "stream-json",
      abilities: { resume: true, terminal: true, costLimit: true, tools: true },
      launch: (request) => ({
        argv: [...program, ...streamJsonArguments(request)],
        env: {},
        input: streamJsonInput(request.prompt),
        files: [],
      }),
      reader: streamJsonReader,
    },
  ],
  terminal: ({ resume }) => ({
    argv: [...program, "--interactive", "--resume", resume],
    env: {},
    input: "",
    files: [],
  }),
});
