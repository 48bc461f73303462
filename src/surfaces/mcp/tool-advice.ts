import type { Tool } from "../../contract/tools/tool.ts";

/** The commands that tools stand for. */
const commands: Readonly<Record<string, string>> = {
  finish: "ov done",
  spawn: "ov sling",
  send: "ov mail send",
  reply: "ov mail reply",
  task_create: "ov task create",
  task_update: "ov task update",
  task_close: "ov task close",
};

const flag = "--[a-z][a-z-]*";
const value = String.raw`"[^"]*"|'[^']*'|<[^<>]*>|[a-z_]+(?:\|[a-z_]+)+`;

/**
 * Advice is written for the command line. The caller of a tool is told the arguments of that tool instead, where the
 * tool has them all; any other command stays as it is, because an agent can type it.
 */
export function asToolAdvice(text: string, { name, input }: Pick<Tool, "name" | "input">): string {
  const argumentOf = (typed: string): string | undefined => {
    const key = typed.slice(2).replaceAll("-", "_");
    return Object.hasOwn(input.properties, key) ? key : undefined;
  };
  // One word of a closed list is a value too: --verdict fail.
  const words = Object.values(input.properties).flatMap((schema) => ("enum" in schema ? (schema.enum ?? []) : []));
  const given = words.length === 0 ? value : `${value}|(?:${words.join("|")})(?![\\w|-])`;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const called =
    command === undefined
      ? text
      : text.replaceAll(
          new RegExp(`${command}((?: (?:${flag}|${given}))*)(?![\\w-])`, "g"),
          (typed, typedFlags: string) => callOf({ name, words: typedFlags, value: given }, argumentOf) ?? typed,
        );
  return called.replaceAll(new RegExp(`(?<![\\w-])(?<!ov [^;,:]*)${flag}`, "g"), (typed) => argumentOf(typed) ?? typed);
}

/** The call with its arguments; undefined when the tool lacks one of them. */
function callOf(
  { name, words, value }: { readonly name: string; readonly words: string; readonly value: string },
  argumentOf: (typed: string) => string | undefined,
): string | undefined {
  const given: string[] = [];
  for (const [, typed = "", said] of words.matchAll(new RegExp(`(${flag})(?: (${value}))?`, "g"))) {
    const argument = argumentOf(typed);
    if (argument === undefined) return undefined;
    given.push(said === undefined ? `${argument}: true` : `${argument}: ${said}`);
  }
  return given.length === 0 ? name : `call ${name} with ${given.join(", ")}`;
}
