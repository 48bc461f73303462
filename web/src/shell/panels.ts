import { createStore, useStore } from "../state/store.ts";

/** The layer of the shell that is open over the page. */
export type Panel = "inbox" | "palette" | "search" | "runs" | "keys" | "messages";

const open = createStore<Panel | undefined>(undefined);

export const usePanel = (): Panel | undefined => useStore(open);
export const openPanel = (panel: Panel): void => open.set(panel);
export const closePanel = (): void => open.set(undefined);
