import type { ToolServer } from "../ports/runtime.ts";
import { selfCommand } from "./self.ts";

/** How an agent's program starts `ov mcp`. It holds no secret: the server reads the agent's token from its environment. */
export function toolServer(): ToolServer {
  const [command = "ov", ...words] = selfCommand();
  return {
    name: "overstory",
    command,
    args: [...words, "mcp"],
    env: ["HOME", "PATH", "OVERSTORY_TOKEN", "OVERSTORY_PROJECT_ROOT", "OVERSTORY_AGENT_NAME", "OVERSTORY_TURN_ID"],
  };
}
