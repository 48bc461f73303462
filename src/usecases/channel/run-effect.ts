import type { Refusal } from "../../domain/refusal.ts";
import { no, type Result } from "../../domain/result.ts";
import type { AnyEffect } from "../catalog.ts";
import type { Listener, World } from "../operation.ts";

/** Runs what reaches beyond the store, as whoever calls: what is the operator's alone is refused to others first. */
export async function runEffect(
  world: World,
  { name, operation, request }: { readonly name: string; readonly operation: AnyEffect; readonly request: unknown },
  listener: Partial<Listener<unknown>> = {},
): Promise<Result<unknown, Refusal>> {
  if (operation.operatorOnly === true) {
    const refused = await world.requireOperator(operation.action?.(request) ?? name, operation.at);
    if (refused !== undefined) return no(refused);
  }
  if (operation.kind === "effect") return operation.run(world, request);
  const { onItem = () => {}, signal = new AbortController().signal } = listener;
  return operation.run(world, request, { onItem, signal });
}
