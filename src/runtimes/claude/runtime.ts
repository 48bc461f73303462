import type { Runtime } from "../../ports/runtime.ts";
import { streamJsonReader } from "../shared/stream-json.ts";
import { streamJsonArguments, streamJsonInput } from "../shared/stream-json-launch.ts";

/** Claude Code, one process per turn. */
export const claudeRuntime: Runtime = {
  id: "claude",
  instructionFile: ".claude/CLAUDE.md",
  environment: [
    "ANTHROPIC_*",
    "CLAUDE_*",
    "AWS_*",
    "GOOGLE_*",
    "VERTEX_*",
    "CLOUD_ML_REGION",
    "IS_SANDBOX",
    "API_TIMEOUT_MS",
  ],
  launch: (request) => ({
    argv: ["claude", ...streamJsonArguments(request)],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
    input: streamJsonInput(request.prompt),
  }),
  reader: streamJsonReader,
};
