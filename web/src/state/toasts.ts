import { createStore, useStore } from "./store.ts";

export interface ToastAction {
  readonly label: string;
  readonly run: () => void;
  /** It takes back what the toast tells: `Mod+Z` runs it. */
  readonly undoes?: boolean;
}

export interface Toast {
  readonly id: number;
  readonly at: number;
  readonly text: string;
  readonly failed: boolean;
  readonly action: ToastAction | undefined;
  readonly shown: boolean;
}

const kept = 100;
const toasts = createStore<readonly Toast[]>([]);
let next = 1;

/** Says what happened. Failures stay until they are closed; the others leave by themselves. All are kept in a list. */
export function toast(text: string, { failed = false, action }: { failed?: boolean; action?: ToastAction } = {}): void {
  const made: Toast = { id: next++, at: Date.now(), text, failed, action, shown: true };
  toasts.set((before) => [...before, made].slice(-kept));
}

export const closeToast = (id: number): void =>
  toasts.set((before) => before.map((each) => (each.id === id ? { ...each, shown: false } : each)));

export const useToasts = (): readonly Toast[] => useStore(toasts);

/** Takes back what the newest toast on the page tells, if it can be taken back. */
export function undoNewest(): void {
  const newest = toasts.get().findLast(({ shown, action }) => shown && action?.undoes === true);
  if (newest === undefined) return;
  closeToast(newest.id);
  newest.action?.run();
}
