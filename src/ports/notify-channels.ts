import type { Notification } from "../domain/notification/notification.ts";

/** One way to reach the operator outside of a terminal that they look at. */
export interface NotifyChannel {
  readonly name: "command" | "desktop" | "webhook";
  /**
   * Resolves to undefined when it was handed over, else to what went wrong, in words. Never takes longer than the
   * configured time, ends early with the signal, and leaves no process behind.
   */
  send(notification: Notification, stop: AbortSignal): Promise<string | undefined>;
}

/** How the operator wants to hear of what waits for them. */
export interface Notifying {
  /** The name of the project. */
  readonly project: string;
  readonly channels: readonly NotifyChannel[];
  /** Terminals that follow the project ring their bell. */
  readonly bell: boolean;
  readonly debounceMs: number;
}
