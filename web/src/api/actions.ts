import { useCallback } from "react";
import { operationEnd, outcomeUnknown } from "../live/operation.ts";
import { useConnection, useResource } from "../live/resource.ts";
import { type ToastAction, toast } from "../state/toasts.ts";
import { useGo } from "../state/url.ts";
import { ApiError, change } from "./client.ts";

/** Why nothing can be changed now; undefined when it can. */
export function useWhyNot(): string | undefined {
  const { kind } = useConnection();
  const { data: me } = useResource({ path: "/api/me" });
  if (kind !== "live" && kind !== "catching-up") return kind === "signed-out" ? "Signed out" : "Not connected";
  return me?.user === "viewer" ? "Your token can look, not act." : undefined;
}

export interface Action {
  /** What is done, as the sentence "Could not …" goes on: "nudge builder-4". */
  readonly what: string;
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  /** Told when it worked. Without it, the page itself shows that. */
  readonly done?: string;
  readonly undo?: ToastAction;
}

/** Does it, and says in a toast if it failed, with the server's reason and a way to try again. */
export function useAct(): (action: Action) => Promise<boolean> {
  const go = useGo();
  return useCallback((action: Action) => act(action, go), [go]);
}

async function act(action: Action, go: ReturnType<typeof useGo>): Promise<boolean> {
  try {
    const reply = await change<{ readonly operation?: string }>(action.method, action.path, action.body);
    if (typeof reply?.operation === "string") await operationEnd(reply.operation);
  } catch (error) {
    const told = error instanceof ApiError ? error : new ApiError(0, { code: "page", message: String(error) });
    if (told.code === outcomeUnknown) {
      toast(`It is not known whether it worked to ${action.what}: ${told.message}. ${told.hint}`, {
        failed: true,
        action: { label: "Open the audit", run: () => go("/health", { tab: "audit" }) },
      });
      return false;
    }
    const status = told.status > 0 ? ` (${told.status})` : "";
    const hint = told.hint === undefined ? "" : ` ${told.hint}`;
    toast(`Could not ${action.what}: ${told.message}${status}.${hint}`, {
      failed: true,
      action: { label: "Try again", run: () => void act(action, go) },
    });
    return false;
  }
  if (action.done !== undefined) toast(action.done, action.undo === undefined ? {} : { action: action.undo });
  return true;
}
