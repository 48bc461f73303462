import { basename } from "node:path";
import { linuxProcesses } from "../host/processes.ts";
import type { EngineSide } from "../ports/engine-contact.ts";
import type { WebListener } from "../ports/store/web.ts";
import type { Store } from "../ports/store.ts";
import type { UiFiles as PackedFiles } from "../ports/ui-files.ts";
import type { UiFiles, WebApp } from "../surfaces/server/app.ts";
import type { Listening } from "../surfaces/server/listener.ts";
import type { ChannelPorts } from "../usecases/channel/run-use-case.ts";
import { engineCall } from "./engine-call.ts";
import type { McpHttp } from "./mcp-http.ts";
import { channelPorts, type Project } from "./project.ts";
import { version } from "./version.ts";

export interface AnnouncedStore {
  readonly store: Store;
  /** Tells of commits of this process, which no change counter tells of. */
  onCommit(listener: () => void): () => void;
  /** Another text after every commit, of this process and of others. */
  version(): Promise<string>;
}

export function announcing(inner: Store): AnnouncedStore {
  const listeners = new Set<() => void>();
  let commits = 0;
  const store: Store = {
    ...inner,
    transaction: async (work) => {
      const value = await inner.transaction(work);
      commits += 1;
      for (const tell of listeners) tell();
      return value;
    },
  };
  const onCommit = (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { store, onCommit, version: async () => `${await inner.changeCounter()}.${commits}` };
}

/** While a process keeps the listener, its end is noticed within this time. */
const ownerMs = 1_000;

/**
 * Opens the engine's socket and listens for browsers whenever the operator wishes it. The code that serves them is loaded
 * at the first wish.
 */
export function withWeb(
  side: EngineSide,
  project: Project,
  announced: AnnouncedStore,
  mcp?: McpHttp,
): EngineSide & {
  /** Once it was closed: until the last request has its answer, for which the store is needed. */
  answered(): Promise<void>;
} {
  let looking: Promise<void> = Promise.resolve();
  let listening: Listening | undefined;
  let wish: WebListener | undefined;
  return {
    ...side,
    isServing: () => listening !== undefined,
    answered: () => looking,
    open: (handlers) => {
      const app = webAppFor(project, announced, handlers.wake);
      let isOpen = true;
      const look = (): void => {
        looking = looking.then(follow).catch(() => undefined);
      };
      const follow = async (): Promise<void> => {
        const read = isOpen ? await app.call("web.readListener", {}) : undefined;
        const wished = read?.ok === true ? (read.value.listener ?? undefined) : undefined;
        const isOver = wished?.owner != null && linuxProcesses.check(wished.owner) === "gone";
        if (isOver) await app.call("web.stopListening", {});
        const wanted = isOver ? undefined : wished;
        if (listening !== undefined && (wanted === undefined || wanted.askedAt !== wish?.askedAt)) {
          const ended = listening;
          listening = undefined;
          mcp?.moveTo(undefined);
          await ended.close();
        }
        wish = wanted;
        if (wanted !== undefined && listening === undefined && wanted.problem === null) await begin(wanted);
      };
      const begin = async (wanted: WebListener): Promise<void> => {
        const { listen } = await import("../surfaces/server/listener.ts");
        const { host, port, strictPort } = wanted;
        const { allowedHosts } = project.config.serve;
        try {
          const beside = mcp?.besideWeb(host);
          listening = listen(app, {
            host,
            port: wanted.boundPort ?? port,
            strictPort,
            allowedHosts,
            ...(beside === undefined ? {} : { beside }),
          });
          if (beside !== undefined) mcp?.moveTo({ host, port: listening.port });
          await app.call("web.recordListening", { boundPort: listening.port, problem: null });
        } catch (error) {
          const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
          const problem = isTaken
            ? `port ${port}`
            : `${host}:${port}: ${error instanceof Error ? error.message : error}`;
          await app.call("web.recordListening", { boundPort: null, problem });
        }
      };
      const stopLooking = every(ownerMs, () => {
        if (wish?.owner != null) look();
      });
      const socket = side.open({
        ...handlers,
        wake: () => {
          look();
          handlers.wake();
        },
      });
      look();
      return {
        close: (options) => {
          isOpen = false;
          stopLooking();
          look();
          socket.close(options);
        },
      };
    },
  };
}

/** The operations of the program for the person who logged in. */
export function webAppFor(
  project: Project,
  { store, onCommit, version: storeVersion }: AnnouncedStore,
  wake: () => void,
): WebApp {
  const ports: ChannelPorts = { ...channelPorts(project, store), sight: { kind: "login" } };
  const { call, follow } = engineCall({ project, store, ports, wake, forPerson: true });
  return {
    version,
    project: basename(project.root),
    call,
    follow,
    changeCounter: () => store.changeCounter(),
    onCommit,
    storeVersion,
    clock: { sleep: Bun.sleep, every },
    ui: page(),
  };
}

function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** The page, read when it is first asked for. */
function page(): UiFiles {
  let opened: Promise<PackedFiles> | undefined;
  return {
    get: async (path) => {
      opened ??= import("../host/ui-files.ts").then(({ openUiFiles }) => openUiFiles());
      return (await opened).get(path);
    },
  };
}
