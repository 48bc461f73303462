import { resolve } from "node:path";
import type { ProjectPlace } from "../domain/project/place.ts";
import { type FoundPlace, findPlace } from "../host/project-place.ts";
import type { CommandChannel } from "../ports/command-channel.ts";
import type { App } from "../surfaces/cli/app.ts";
import { runCli, treeFor } from "../surfaces/cli/run.ts";
import { isUseCase, type OperationName, operationOf } from "../usecases/catalog.ts";
import type { Call, Listener } from "../usecases/operation.ts";
import { channelFor } from "./channel.ts";
import { bindingFor, contactOf, type Environment, isRemote, openProject, type Project } from "./project.ts";
import { hookFormat } from "./runtime-names.ts";
import { version } from "./version.ts";

/** One command line of a person, a script or an agent. `read`: standard input, where it was read before. */
export async function runCommand(argv: readonly string[], read?: string): Promise<number> {
  const { env } = process;
  let app: OpenApp | undefined;
  const exit = await runCli({
    argv,
    ...(read === undefined ? {} : { stdin: async () => read }),
    env,
    tree: await treeFor(argv),
    version,
    makeApp: ({ project }, warn, { worksWithBrokenConfig: lastKnownConfig = false }) => {
      app = makeApp({ env, cwd: process.cwd(), project, lastKnownConfig, warn });
      return app;
    },
  });
  await app?.close();
  return exit;
}

export interface OpenApp extends App {
  /**
   * Closes the store. Bun empties the log of a database that is still open when its process exits: it waits for the disk
   * four times and keeps other writers out meanwhile.
   */
  close(): Promise<void>;
}

/** What weakens the project's hold on its agents is said with every command of the operator. */
async function sandboxNotices(project: Project): Promise<readonly string[]> {
  switch (project.config.sandbox.mode) {
    case "off":
      return [
        "sandbox.mode is off: the tools of agents are not guarded. Switch the guard on with: ov config set sandbox.mode guard",
      ];
    case "os":
      return unconfinedNotice(project);
    case "guard":
      return [];
  }
}

async function unconfinedNotice({ dir: state, config: { sandbox: settings } }: Project): Promise<readonly string[]> {
  const { unconfinedBecause } = await import("../host/sandbox/project-sandbox.ts");
  const problem = unconfinedBecause({ settings, state });
  if (problem === undefined) return [];
  const so = settings.required ? "no agent is started" : "the tools of agents are guarded, but nothing confines agents";
  return [`sandbox.mode is os, but ${problem}: ${so}. Install bubblewrap, and look with: ov status`];
}

export interface AppOptions {
  readonly env: Environment;
  readonly cwd: string;
  readonly project: string | undefined;
  /** Go on with the last known configuration while a file of it is broken. */
  readonly lastKnownConfig?: boolean;
  /** Prints a line for the user at once, while the command still runs. */
  readonly warn?: (line: string) => void;
}

/** The program as commands see it. Nothing is opened before a command asks for it. */
export function makeApp({ env, cwd, project: typed, lastKnownConfig = false, warn = () => {} }: AppOptions): OpenApp {
  const here = typed === undefined ? cwd : resolve(cwd, typed);
  let place: FoundPlace | undefined;
  const thePlace = (): FoundPlace => {
    place ??= findPlace({ project: typed, fromEnvironment: env.OVERSTORY_PROJECT_ROOT, cwd });
    return place;
  };
  let bound: Promise<ProjectPlace> | undefined;
  const boundPlace = (): Promise<ProjectPlace> => {
    bound ??= bind(thePlace(), env);
    return bound;
  };
  let project: Promise<Project> | undefined;
  let channel: CommandChannel | undefined;
  const theProject = (): Promise<Project> => {
    project ??= boundPlace().then((here) => openProject(here, env, { lastKnown: lastKnownConfig }));
    return project;
  };
  const runEngine = async (stop: AbortSignal): Promise<void> =>
    (await import("./engine-main.ts")).engineInForeground(await theProject(), stop);
  const run = async (
    name: OperationName,
    request: unknown,
    listener?: Partial<Listener<unknown>>,
    action?: OperationName,
  ) => {
    const operation = await operationOf(name);
    if (isUseCase(operation) || (isRemote(env) && operation.kind === "effect" && operation.place === "engine")) {
      channel ??= await channelFor(await theProject(), { warn });
      const { OVERSTORY_TOKEN: token } = env;
      const more = { ...(token === undefined ? {} : { token }), ...(action === undefined ? {} : { action }) };
      return channel.call({ name, request, ...more });
    }
    const [{ runEffect }, { makeWorld }] = await Promise.all([
      import("../usecases/operation.ts"),
      import("./world.ts"),
    ]);
    const step = (of: OperationName, given: unknown) => run(of, given, undefined, action ?? name);
    const world = makeWorld({
      // The catalogue gives each name the types of its own operation.
      call: step as Call,
      warn,
      env,
      cwd: here,
      typedIn: cwd,
      place: boundPlace,
      project: theProject,
      state: () => thePlace().state,
      changeCounter: async () => channel?.changeCounter(),
      runEngine,
    });
    return runEffect(world, { name, operation, request }, listener);
  };
  const app: OpenApp = {
    version,
    notices: async () => {
      const opened = await project?.catch(() => undefined);
      if (opened === undefined) return [];
      // Agents need not be told that nothing keeps them.
      return app.speaksForAgent ? opened.notices : [...opened.notices, ...(await sandboxNotices(opened))];
    },
    speaksForAgent: [env.OVERSTORY_TOKEN, env.OVERSTORY_AGENT_NAME].some(
      (value) => value !== undefined && value !== "",
    ),
    // The catalogue gives each name the types of its own operation.
    call: run as App["call"],
    follow: run as App["follow"],
    engine: {
      status: () => {
        const { root, state } = thePlace();
        return contactOf({ root, dir: state, env }).notice();
      },
    },
    hookFormat,
    close: async () => channel?.close(),
    serveTools: async () => {
      const [{ serveAgent }, { fileSink, isTerminal }] = await Promise.all([
        import("../surfaces/mcp/stdio.ts"),
        import("../surfaces/cli/sink.ts"),
      ]);
      const out = fileSink(1);
      const peer = { input: Bun.stdin.stream(), write: (line: string) => out.write(line), isPerson: isTerminal(0) };
      return serveAgent({ version, call: app.call, follow: app.follow }, peer);
    },
    dashboard: {
      run: async (options) => {
        const [{ runDashboard }, { withTerminal }, { fileSink }] = await Promise.all([
          import("../surfaces/tui/dashboard.ts"),
          import("../surfaces/shared/terminal.ts"),
          import("../surfaces/cli/sink.ts"),
        ]);
        const every = (ms: number, work: () => void): (() => void) => {
          const timer = setInterval(work, ms);
          return () => clearInterval(timer);
        };
        const clock = { sleep: Bun.sleep, every };
        return withTerminal(fileSink(1).write, (terminal) => runDashboard(app, terminal, { ...options, clock }));
      },
      frame: async (scope, size) => (await import("../surfaces/tui/dashboard.ts")).oneFrame(app, scope, size),
    },
    openInBrowser: async (url) => {
      const { openInBrowser } = await import("../host/open-browser.ts");
      openInBrowser(thePlace().state, url, env);
    },
    serveSources: async ({ api, port }) => {
      const [{ openUiSources }, { serveSources }] = await Promise.all([
        import("../host/ui-files.ts"),
        import("../surfaces/server/dev-server.ts"),
      ]);
      const sources = await openUiSources();
      if (sources === undefined) return "no-sources";
      try {
        const served = serveSources({ api, port, sources });
        return { url: served.url, close: () => served.close().then(sources.close) };
      } catch (error) {
        await sources.close();
        throw error;
      }
    },
  };
  return app;
}

/**
 * The place of a found project. A place that is already bound, as it is for most commands, is not looked into again.
 */
async function bind(found: FoundPlace, env: Environment): Promise<ProjectPlace> {
  // A confined process sees an empty directory in the place of the state. The engine serves the right one.
  return found.isBound || isRemote(env) ? found : (await bindingFor(env)).bind(found);
}
