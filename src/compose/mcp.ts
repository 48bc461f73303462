import { fileSink, isTerminal } from "../surfaces/cli/sink.ts";
import { serveAgent } from "../surfaces/mcp/stdio.ts";
import type { McpApp } from "../surfaces/mcp/tool-call.ts";
import { version } from "./version.ts";

/** `ov mcp`: the tools of the agent whose token this process has, on its standard input and output. */
export function serveTools(app: Pick<McpApp, "call" | "follow">): ReturnType<typeof serveAgent> {
  const out = fileSink(1);
  const peer = { input: Bun.stdin.stream(), write: (line: string) => out.write(line), isPerson: isTerminal(0) };
  return serveAgent(mcpApp(app), peer);
}

/** What tools may ask for, wherever they are served. */
export const mcpApp = ({ call, follow }: Pick<McpApp, "call" | "follow">): McpApp => ({ version, call, follow });
