import type { Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import type { McpFacet } from "../surfaces/cli/facets/mcp.ts";
import { fileSink, isTerminal } from "../surfaces/cli/sink.ts";
import type { McpApp } from "../surfaces/mcp/app.ts";
import { refusingServer } from "../surfaces/mcp/refusing.ts";
import { makeServer } from "../surfaces/mcp/server.ts";
import { serveStdio } from "../surfaces/mcp/stdio.ts";
import { describeRefusal } from "../surfaces/shared/refusals.ts";
import { version } from "./version.ts";

/** `ov mcp`, as whoever's token the environment holds. */
export function makeMcpFacet(app: Pick<McpApp, "call" | "follow">): McpFacet {
  return {
    serve: async (): Promise<Result<void, Refusal>> => {
      const self = await app.call("identity.self", {});
      const out = fileSink(1);
      const write = (line: string) => out.write(line);
      if (self.ok) {
        await serveStdio(makeServer(mcpApp(app), self.value), { input: Bun.stdin.stream(), write });
        return ok(undefined);
      }
      // A person at a terminal sends no requests and reads the refusal instead.
      if (!isTerminal(0))
        await serveStdio(refusingServer(describeRefusal(self.refusal)), { input: firstPiece(), write });
      return no(self.refusal);
    },
  };
}

/** What tools may ask for, wherever they are served. */
export const mcpApp = ({ call, follow }: Pick<McpApp, "call" | "follow">): McpApp => ({ version, call, follow });

/** Enough to answer the first request: a client that is refused has nothing more to ask. */
async function* firstPiece(): AsyncGenerator<Uint8Array> {
  for await (const chunk of Bun.stdin.stream()) {
    yield chunk;
    if (chunk.includes(10)) return;
  }
}
