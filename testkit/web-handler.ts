import { openProject, openStore } from "../src/compose/project.ts";
import { announcing, webAppFor } from "../src/compose/web.ts";
import type { WebApp } from "../src/surfaces/server/app.ts";
import { Live } from "../src/surfaces/server/live.ts";
import { makeServer, type WebServer } from "../src/surfaces/server/server.ts";
import type { TestProject } from "./project.ts";
import { statePath } from "./state.ts";

/** The server of a project in this process, without a socket and without an engine. */
export interface WebHandler extends AsyncDisposable {
  readonly app: WebApp;
  readonly live: Live;
  /** The secret of an operator's token. */
  readonly token: string;
  /** A server with fresh limits over the same project. */
  fresh(): WebServer;
}

export async function webHandler({ root, env }: TestProject): Promise<WebHandler> {
  const project = await openProject({ root, state: statePath(root) }, env);
  const store = openStore(project, { life: "process" });
  const announced = announcing(store);
  const app = webAppFor(project, announced, () => {});
  const live = new Live(app, "test");
  const issued = await app.call("web.issueKey", { kind: "token", role: "operator" });
  if (!issued.ok) throw new Error("no token");
  const address = { host: "127.0.0.1", port: 7321, allowedHosts: [] };
  return {
    app,
    live,
    token: issued.value.secret,
    fresh: () => makeServer({ app, address, epoch: "test", live }),
    [Symbol.asyncDispose]: async () => {
      live.close();
      await store.close();
    },
  };
}
