import { operationEnd } from "../live/operation.ts";
import { change } from "./client.ts";

/** Asks for a change that takes longer than a request may, and waits for its end on the topic that the server names. */
export async function runLong<Reply>(path: string, body: unknown): Promise<Reply> {
  const { operation } = await change<{ readonly operation: string }>("POST", path, body);
  return (await operationEnd(operation)) as Reply;
}
