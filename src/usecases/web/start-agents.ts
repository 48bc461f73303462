import { invalid } from "../../domain/refusal.ts";
import { no } from "../../domain/result.ts";
import { fields, flag, type ObjectSchema, type SchemaOf, text } from "../../domain/schema/schema.ts";
import { taskIdOf } from "../../domain/task/task.ts";
import { type SlingReply, type SlingRequest, slingFields } from "../agents/sling-request.ts";
import type { Effect } from "../operation.ts";

/** What a browser asks for. Without a task, the title says what is to be done, and the task is made of it. */
type WebSlingRequest = Omit<SlingRequest, "environment" | "taskId"> & { readonly taskId?: string };

/**
 * A browser has no shell, so the agent gets the variables of the engine: where programs and files are, and no keys of a
 * provider that were only set in a terminal.
 */
export const slingFromWeb: Effect<WebSlingRequest, SlingReply> = {
  kind: "effect",
  request: webSlingFields(),
  place: "engine",
  operatorOnly: true,
  action: () => "sling an agent",
  run: async (world, { taskId, ...request }) => {
    const title = request.title?.trim() ?? "";
    if (taskId === undefined && title === "") return no(invalid("title", "must say what is to be done"));
    const environment = await world.call("environment.capture", {});
    if (!environment.ok) return environment;
    const task = taskId === undefined ? { taskId: taskIdOf(title), title, idOfTitle: true } : { taskId };
    return world.call("agent.sling", { ...request, ...task, environment: environment.value });
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

function webSlingFields(): SchemaOf<WebSlingRequest> {
  const { properties, required, ...rest } = slingFields as ObjectSchema;
  const { environment: _, ...left } = properties;
  const optional = ["environment", "taskId"];
  return { ...rest, properties: left, required: required.filter((field) => !optional.includes(field)) };
}
