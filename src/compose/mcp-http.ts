import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Refusal } from "../domain/refusal.ts";
import { ok, type Result } from "../domain/result.ts";
import { writeAtomically } from "../host/file-access.ts";
import type { EngineSide } from "../ports/engine-contact.ts";
import type { Store } from "../ports/store.ts";
import { answerHttp, maxBodyBytes, mcpPath } from "../surfaces/mcp/http.ts";
import { type McpServer, makeServer } from "../surfaces/mcp/server.ts";
import type { McpApp } from "../surfaces/mcp/tool-call.ts";
import type { ChannelPorts } from "../usecases/channel/run-use-case.ts";
import { engineCall } from "./engine-call.ts";
import { channelPorts, type Project } from "./project.ts";
import { version } from "./version.ts";

interface ServingEngine {
  readonly project: Project;
  readonly store: Store;
  /** A call left work. */
  wake(): void;
}

/** Opens the engine's socket and, beside it, the agents' tools over HTTP. An engine that finds another engine at work opens neither. */
export const withMcpHttp = (side: EngineSide, project: Project, store: Store): EngineSide => ({
  ...side,
  open: (handlers) => {
    const http = listen({ project, store, wake: handlers.wake });
    const restored = (): void => {
      http.announce();
      handlers.restored();
    };
    const socket = side.open({ ...handlers, restored });
    return {
      close: (options) => {
        http.close();
        socket.close(options);
      },
    };
  },
});

/** Listens on the loopback address until closed. Where, stands in a file that only the user can read. */
function listen(engine: ServingEngine): { announce(): void; close(): void } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    maxRequestBodySize: maxBodyBytes,
    // Otherwise a failure would be answered with the lines of code around it.
    development: false,
    fetch: (request, http) => {
      // A call may wait for gates, which take as long as they take.
      http.timeout(request, 0);
      return answerHttp(request, (token, client) => serverFor(engine, token, client));
    },
  });
  const notice = join(engine.project.dir, "run", "mcp.json");
  const address = { url: `http://127.0.0.1:${server.port}${mcpPath}`, pid: process.pid };
  const announce = (): void => writeAtomically(notice, `${JSON.stringify(address)}\n`, 0o600);
  announce();
  return {
    announce,
    close: () => {
      rmSync(notice, { force: true });
      void server.stop(true);
    },
  };
}

async function serverFor(
  engine: ServingEngine,
  token: string | undefined,
  client: string | undefined,
): Promise<Result<McpServer, Refusal>> {
  const app = appFor(engine, token);
  const self = await app.call("identity.self", {});
  return self.ok ? ok(makeServer({ version, ...app }, self.value, client)) : self;
}

/** As the command channel: the same operations, as the holder of the token, and the engine looks afterwards. */
function appFor({ project, store, wake }: ServingEngine, token: string | undefined): Pick<McpApp, "call" | "follow"> {
  // The operator asked for it to listen, and by that for tokens to count here, whoever shows them.
  const ports: ChannelPorts = { ...channelPorts(project, store), sight: { kind: "connection", takesTokens: true } };
  return engineCall({ project, store, ports, token, wake });
}
