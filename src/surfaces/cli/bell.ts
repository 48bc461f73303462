import type { Event } from "../../domain/event/event.ts";
import type { App } from "./app.ts";

interface Output {
  isTTY(): boolean;
  write(text: string): unknown;
}

/** Rings the bell of a terminal that follows the project, when something new waits for its user and they want that. */
export async function bellOf(app: Pick<App, "call">, out: Output): Promise<(events: readonly Event[]) => void> {
  if (!out.isTTY()) return () => {};
  const wanted = await app.call("config.get", { key: "notify.bell" });
  if (!wanted.ok || wanted.value !== true) return () => {};
  return (events) => {
    if (events.some(({ type }) => type === "attention")) out.write("\x07");
  };
}
