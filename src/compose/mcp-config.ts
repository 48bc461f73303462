import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomically } from "../host/atomic-file.ts";
import type { Project } from "./project.ts";

/** What agents' programs call the server; it becomes a part of the tools' names. */
const serverName = "overstory";

/**
 * The file that tells an agent's program how to start `ov mcp`. One for all agents: it names nobody and holds no token,
 * for the server inherits the token of whoever starts it.
 */
export function placeMcpConfig({ dir }: Pick<Project, "dir">): string {
  const file = join(dir, "run", "mcp-servers.json");
  // Otherwise Claude Code tells its model only the tools' names, and each must be looked up before it can be called.
  const always = { alwaysLoad: true };
  const server = { type: "stdio", command: join(dir, "run", "bin", "ov"), args: ["mcp"], ...always };
  const text = `${JSON.stringify({ mcpServers: { [serverName]: server } }, null, 2)}\n`;
  // Not written again as it is: turns start while others read it, and on a full disk it is still good.
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) writeAtomically(file, text);
  return file;
}
