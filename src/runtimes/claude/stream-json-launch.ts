import type { Driver, GatewayAccess, LaunchRequest, ToolServer } from "../../ports/runtime.ts";
import { turnMode } from "./stream-json-failures.ts";

/** The flags of one non-interactive turn with JSON in and out. */
export function streamJsonArguments(
  {
    model,
    gateway,
    fallbackModel,
    resume,
    instructions,
    tools,
    maxCostUsd,
  }: Pick<LaunchRequest, "model" | "gateway" | "fallbackModel" | "resume" | "instructions" | "tools" | "maxCostUsd">,
  input: Driver["input"],
): string[] {
  const argv = [
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    // Without it one long answer is silence, and silence ends a turn.
    "--include-partial-messages",
    "--strict-mcp-config",
    // Not `local`: in a linked worktree that is the file of the main checkout, with its person's own hooks.
    "--setting-sources",
    "user,project",
  ];
  // It takes any number of values, so another flag must follow.
  if (tools !== null) argv.push("--mcp-config", mcpServers(tools));
  argv.push("--permission-mode", turnMode);
  // The program then asks us, by its output, before it uses a tool that the guard alone cannot allow.
  // It also says when a message that came during the turn was put before its model.
  if (input === "open") argv.push("--permission-prompt-tool", "stdio", "--replay-user-messages");
  // It counts from the beginning of this process, also in a conversation that goes on.
  if (maxCostUsd !== null) argv.push("--max-budget-usd", maxCostUsd.toFixed(6));
  argv.push(...modelArguments({ model, gateway }));
  if (fallbackModel != null) argv.push("--fallback-model", fallbackModel);
  if (resume !== null) argv.push("--resume", resume);
  if (instructions !== null) argv.push("--append-system-prompt-file", instructions);
  return argv;
}

/** Models of a gateway go by one of the program's short names, which variables then give another meaning. */
export const modelArguments = ({ model, gateway }: Pick<LaunchRequest, "model" | "gateway">): string[] => {
  const name = gateway == null ? model : "sonnet";
  return name === null ? [] : ["--model", name];
};

/** How the program reaches a gateway. A key of the person's own would count before the token. */
export const gatewayVariables = (gateway: GatewayAccess | null | undefined): Record<string, string> =>
  gateway == null
    ? {}
    : {
        ANTHROPIC_BASE_URL: gateway.baseUrl,
        ANTHROPIC_AUTH_TOKEN: gateway.token,
        ANTHROPIC_API_KEY: "",
        ...Object.fromEntries(["SONNET", "HAIKU"].map((name) => [`ANTHROPIC_DEFAULT_${name}_MODEL`, gateway.model])),
      };

/**
 * The tool server in the form of `--mcp-config`. It stands on the command line: another agent could change a file, and
 * its server would then run with this agent's token. The server inherits the whole environment.
 */
export function mcpServers({ name, command, args }: ToolServer): string {
  // Otherwise Claude Code tells its model only the tools' names, and each must be looked up before it can be called.
  const always = { alwaysLoad: true };
  return JSON.stringify({ mcpServers: { [name]: { type: "stdio", command, args, ...always } } });
}

/** A prompt as the line that these CLIs read from their input. With an id they name the message by it. */
export function streamJsonInput(prompt: string, id?: string): string {
  const message = { role: "user", content: [{ type: "text", text: prompt }] };
  return `${JSON.stringify({ type: "user", ...(id === undefined ? {} : { uuid: id }), message })}\n`;
}
