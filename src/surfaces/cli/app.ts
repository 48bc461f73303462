import type { HookFormat } from "../../domain/hook/hook.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Result } from "../../domain/result.ts";
import type { Call, Follow } from "../../usecases/operation.ts";
import type { Paint } from "../shared/paint.ts";

/** What commands may ask of the program: operations by name, nothing of how they are run. Filled by `compose`. */
export interface App {
  readonly version: string;
  /** What the person at the terminal should know about the project besides the command's answer. */
  notices(): Promise<readonly string[]>;
  /** This process runs for an agent, as far as its environment says. Never a proof of anything. */
  readonly speaksForAgent: boolean;
  /** Runs an operation with this process's identity, and wakes the engine when that left work. */
  readonly call: Call;
  /** The same for an operation that tells how far it is while it runs. */
  readonly follow: Follow;
  readonly engine: RunningEngine;
  /** How the hooks that call `ov hook` speak. All entries that we write are for Claude Code. */
  /** How hooks of this program are read and answered; without a name, those of Claude Code. */
  hookFormat(program: string | undefined): Promise<HookFormat>;
  /**
   * Becomes another surface, which this one may not import: serves the tools of the agent whose token this process has on
   * standard input and output, until the client leaves.
   */
  serveTools(): Promise<Result<null, Refusal>>;
  /** The dashboard, which is a surface of its own too. */
  readonly dashboard: Dashboard;
  /** Opens an address in the browser of this user, and shows it to no other user. */
  openInBrowser(url: string): Promise<void>;
  /**
   * Serves the sources of the web page in this process, in front of the engine that serves at `api`. `no-sources`: this
   * program has none. Fails where the port is taken.
   */
  serveSources(options: { readonly api: string; readonly port: number }): Promise<SourcesServer | "no-sources">;
}

export interface SourcesServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Which agents are shown: those of all runs, of a chosen run, or of the current one. */
export interface DashboardScope {
  readonly all: boolean;
  readonly run: string | undefined;
}

export interface Dashboard {
  /** Takes the terminal over until the person quits. */
  run(options: {
    readonly scope: DashboardScope;
    /** The shortest time between two looks at the project. */
    readonly intervalMs: number;
    readonly paint: Paint;
    readonly signal: AbortSignal;
  }): Promise<Result<null, Refusal>>;
  /** One frame as plain text. */
  frame(scope: DashboardScope, size: { readonly columns: number }): Promise<Result<string, Refusal>>;
}

export interface RunningEngine {
  /** The engine that listens now, if any. */
  status(): { readonly pid: number; readonly socket: string; readonly version: string } | undefined;
}
