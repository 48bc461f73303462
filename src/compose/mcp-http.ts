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

/**
 * The agents' tools over HTTP, on this machine only. Where they are stands in a file that only the user can read. While
 * browsers are served on this machine too, they are at the same port, else at one of their own:
 *
 *   closed ──open──▶ own port ◀──the web listener ends── the web listener's port
 *                        └──────────it begins──────────────────▲
 */
export interface McpHttp {
  /** Opens them beside the engine's socket. An engine that finds another engine at work opens neither. */
  beside(side: EngineSide): EngineSide;
  /**
   * Answers requests for the tools at the address of the web page. Undefined if other machines may reach that address: they
   * could put any name into `Host`.
   */
  besideWeb(host: string): ((request: Request, lasts: () => void) => Promise<Response> | undefined) | undefined;
  /** Browsers are served at this address from now on; undefined: not any more. */
  moveTo(web: { readonly host: string; readonly port: number } | undefined): void;
}

const loopback = ["127.0.0.1", "localhost", "::1"];

export function mcpHttp(project: Project, store: Store): McpHttp {
  const notice = join(project.dir, "run", "mcp.json");
  let wake: (() => void) | undefined;
  let own: Bun.Server<undefined> | undefined;
  let url = "";
  const answer = (request: Request, lasts: () => void): Promise<Response> =>
    answerHttp(request, (token, client) => serverFor({ project, store, wake: () => wake?.() }, token, client), lasts);
  const announce = (): void => writeAtomically(notice, `${JSON.stringify({ url, pid: process.pid })}\n`, 0o600);
  const listen = (): void => {
    own ??= Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      maxRequestBodySize: maxBodyBytes,
      // Otherwise a failure would be answered with the lines of code around it.
      development: false,
      // Without it any program of this user may listen at the same port, and gets tokens of others.
      reusePort: false,
      fetch: (request, http) => answer(request, () => http.timeout(request, 0)),
    });
    url = `http://127.0.0.1:${own.port}${mcpPath}`;
    announce();
  };
  return {
    beside: (side) => ({
      ...side,
      open: (handlers) => {
        wake = handlers.wake;
        listen();
        const restored = (): void => {
          announce();
          handlers.restored();
        };
        const socket = side.open({ ...handlers, restored });
        return {
          close: (options) => {
            wake = undefined;
            rmSync(notice, { force: true });
            void own?.stop(true);
            own = undefined;
            socket.close(options);
          },
        };
      },
    }),
    besideWeb: (host) => {
      if (!loopback.includes(host)) return undefined;
      return (request, lasts) => (URL.parse(request.url)?.pathname === mcpPath ? answer(request, lasts) : undefined);
    },
    moveTo: (web) => {
      if (wake === undefined) return;
      if (web === undefined) return listen();
      const left = own;
      own = undefined;
      url = `http://${web.host.includes(":") ? `[${web.host}]` : web.host}:${web.port}${mcpPath}`;
      announce();
      // Calls that are under way there are answered.
      void left?.stop();
    },
  };
}

interface ServingEngine {
  readonly project: Project;
  readonly store: Store;
  /** A call left work. */
  wake(): void;
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
  // The operator asked this endpoint to listen. By that, tokens count here, from any process that shows them.
  const ports: ChannelPorts = { ...channelPorts(project, store), sight: { kind: "connection", takesTokens: true } };
  return engineCall({ project, store, ports, token, wake });
}
