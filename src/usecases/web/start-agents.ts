import { fields, flag, type ObjectSchema, type SchemaOf, text } from "../../domain/schema/schema.ts";
import { type SlingReply, type SlingRequest, slingFields } from "../agents/sling-request.ts";
import type { Effect } from "../operation.ts";

/**
 * A browser has no shell, so the agent gets the variables of the engine: where programs and files are, and no keys of a
 * provider that were only set in a terminal.
 */
export const slingFromWeb: Effect<Omit<SlingRequest, "environment">, SlingReply> = {
  kind: "effect",
  request: withoutEnvironment(),
  place: "engine",
  operatorOnly: true,
  action: () => "sling an agent",
  run: async (world, request) => {
    const environment = await world.call("environment.capture", {});
    return environment.ok ? world.call("agent.sling", { ...request, environment: environment.value }) : environment;
  },
};

/** The same for an agent that ended and goes on. */
export const recoverFromWeb: Effect<{ readonly of: string; readonly fresh?: boolean | undefined }, SlingReply> = {
  kind: "effect",
  request: fields({ of: text }, { fresh: flag }),
  place: "engine",
  operatorOnly: true,
  action: () => "recover an agent",
  run: async (world, { of, fresh = false }) => {
    const environment = await world.call("environment.capture", {});
    return environment.ok ? world.call("agent.recover", { of, fresh, environment: environment.value }) : environment;
  },
};

function withoutEnvironment(): SchemaOf<Omit<SlingRequest, "environment">> {
  const { properties, required, ...rest } = slingFields as ObjectSchema;
  const { environment: _, ...left } = properties;
  return { ...rest, properties: left, required: required.filter((field) => field !== "environment") };
}
