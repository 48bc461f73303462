import { existsSync, readFileSync } from "node:fs";
import { no, ok, type Result } from "../../../domain/result.ts";
import type { McpProgram } from "./mcp.ts";

export interface Arguments {
  readonly version: boolean;
  readonly model: string;
  readonly permissionMode: string;
  readonly resume: string | undefined;
  readonly session: string | undefined;
  readonly mcpPrograms: readonly McpProgram[];
  readonly systemPrompt: string | undefined;
  /** What a turn may cost, in dollars. */
  readonly maxBudgetUsd: number | undefined;
}

const switches = [
  "-p",
  "--print",
  "--verbose",
  "--strict-mcp-config",
  "--include-partial-messages",
  "--version",
  "-v",
] as const;
const withValue = [
  "--output-format",
  "--input-format",
  "--permission-mode",
  "--permission-prompt-tool",
  "--model",
  "--resume",
  "--session-id",
  "--settings",
  "--setting-sources",
  "--max-budget-usd",
  "--mcp-config",
  "--append-system-prompt",
  "--append-system-prompt-file",
] as const;
type Switch = (typeof switches)[number];
type Option = (typeof withValue)[number];

const defaultModel = "scripted-model";
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Understands the part of the imitated command line that an orchestrator uses; the refusal is one line for stderr. */
export function parseArguments(argv: readonly string[]): Result<Arguments, string> {
  const given = collect(argv);
  if (!given.ok) return given;
  const { on, values } = given.value;
  const version = on.has("--version") || on.has("-v");
  const problem = version ? undefined : problemOf(on, values);
  if (problem !== undefined) return no(problem);
  const mcpPrograms = readMcpPrograms(values.get("--mcp-config"));
  if (!mcpPrograms.ok) return mcpPrograms;
  const systemPrompt = readSystemPrompt(values);
  if (!systemPrompt.ok) return systemPrompt;
  return ok({
    version,
    model: values.get("--model") ?? defaultModel,
    permissionMode: values.get("--permission-mode") ?? "default",
    resume: values.get("--resume"),
    session: values.get("--session-id"),
    mcpPrograms: mcpPrograms.value,
    systemPrompt: systemPrompt.value,
    maxBudgetUsd: values.has("--max-budget-usd") ? Number(values.get("--max-budget-usd")) : undefined,
  });
}

interface Given {
  readonly on: Set<Switch>;
  readonly values: Map<Option, string>;
}

function collect(argv: readonly string[]): Result<Given, string> {
  const on = new Set<Switch>();
  const values = new Map<Option, string>();
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const simple = switches.find((known) => known === word);
    if (simple !== undefined) {
      on.add(simple);
      continue;
    }
    const [name = word, ...after] = word.startsWith("--") ? word.split("=") : [word];
    const option = withValue.find((known) => known === name);
    if (option === undefined) return no(`error: unknown ${word.startsWith("-") ? "option" : "argument"} '${word}'`);
    const value = after.length > 0 ? after.join("=") : rest.shift();
    if (value === undefined) return no(`error: option '${option} <value>' argument missing`);
    values.set(option, value);
  }
  return ok({ on, values });
}

function problemOf(on: Given["on"], values: Given["values"]): string | undefined {
  if (!on.has("-p") && !on.has("--print")) return "Error: the scripted agent has no screen; use -p";
  for (const option of ["--input-format", "--output-format"] as const) {
    if (values.get(option) !== "stream-json") return `Error: the scripted agent needs ${option} stream-json`;
  }
  if (!on.has("--verbose")) return "Error: When using --print, --output-format=stream-json requires --verbose";
  const budget = values.get("--max-budget-usd");
  if (budget !== undefined && !(Number(budget) > 0)) return "error: option '--max-budget-usd <amount>' is invalid";
  const session = values.get("--session-id");
  if (session !== undefined && !uuid.test(session)) return "Error: Invalid session ID. Must be a valid UUID.";
  if (session !== undefined && values.has("--resume")) return "Error: --session-id cannot be used with --resume";
  return undefined;
}

/** Servers are started when a step calls one of their tools; those that are reached otherwise are not for us. */
function readMcpPrograms(config: string | undefined): Result<readonly McpProgram[], string> {
  if (config === undefined) return ok([]);
  try {
    const value: unknown = JSON.parse(config.trimStart().startsWith("{") ? config : readFileSync(config, "utf8"));
    if (typeof value !== "object" || value === null || !("mcpServers" in value)) {
      return no(`Error: Invalid MCP configuration: "mcpServers" is missing in ${config}`);
    }
    return ok(Object.entries(Object(value.mcpServers)).map(([name, server]) => programOf(name, Object(server))));
  } catch (error) {
    return no(`Error: Invalid MCP configuration: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const programOf = (name: string, { command, args, env }: Record<string, unknown>): McpProgram => ({
  name,
  argv: [String(command), ...(Array.isArray(args) ? args.map(String) : [])],
  env: Object.fromEntries(Object.entries(Object(env)).map(([key, value]) => [key, String(value)])),
});

function readSystemPrompt(values: Given["values"]): Result<string | undefined, string> {
  const file = values.get("--append-system-prompt-file");
  if (file === undefined) return ok(values.get("--append-system-prompt"));
  return existsSync(file) ? ok(readFileSync(file, "utf8")) : no(`Error: Append system prompt file not found: ${file}`);
}
