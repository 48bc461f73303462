import { toolSummary } from "../../../domain/event/tool-call.ts";
import { type ToolKind, type ToolUse, toolKinds } from "../../../domain/guard/tool-use.ts";
import { exactShellWord } from "../../../domain/text/shell-word.ts";
import type { TurnEvent } from "../../../domain/turn/turn-event.ts";
import { type Fields, fields, list, number, objects, text } from "../json-fields.ts";
import { pathsIn } from "../tool-paths.ts";

/** All that a program has told of one call of a tool so far. */
export interface AcpCall {
  readonly id: string;
  /** The first title that it had: in some programs the name of the tool, in others words about what it does. */
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly input: Fields;
  readonly paths: readonly string[];
  /** The texts among its contents. */
  readonly texts: readonly string[];
  /** Its contents show how a file would change. */
  readonly changes: boolean;
}

/** Calls and updates are one thing: some programs begin with an update, and each tells only what is new. */
export class AcpCalls {
  readonly #calls = new Map<string, { call: AcpCall; begun: boolean; ended: boolean }>();
  readonly #nameOf: (call: AcpCall) => string;

  constructor(nameOf: (call: AcpCall) => string) {
    this.#nameOf = nameOf;
  }

  /** What is known of a call with this news in it. */
  learn(news: Fields): AcpCall {
    const id = text(news.toolCallId) ?? "";
    const before = this.#calls.get(id);
    // What was told of another call says nothing about this one.
    const isAnother = id === "" || (before?.ended === true && news.sessionUpdate !== "tool_call_update");
    const known = isAnother ? undefined : before;
    const call = merged(known?.call, id, news);
    this.#calls.set(id, { begun: false, ended: false, ...known, call });
    return call;
  }

  /**
   * What the news says for the record. A call begins when its input is known, or when it is at work without any.
   * `isQuestion`: the program asks whether it may make the call, so it begins now. Some programs tell nothing more until it
   * has ended.
   */
  events(news: Fields, { isQuestion = false } = {}): readonly TurnEvent[] {
    const call = this.learn(news);
    const state = this.#calls.get(call.id);
    if (state === undefined || state.ended) return [];
    const status = text(news.status);
    const hasEnded = status === "completed" || status === "failed";
    const found: TurnEvent[] = [];
    if (!state.begun && (isQuestion || hasEnded || status === "in_progress" || isKnown(call.input))) {
      const input = inputOf(call);
      found.push({
        kind: "tool-start",
        id: call.id,
        name: this.#nameOf(call),
        input,
        summary: toolSummary(input),
        at: null,
      });
      state.begun = true;
    }
    if (hasEnded) {
      const failed = status === "failed" || (exitCodeIn(news) ?? 0) !== 0;
      const said = failed ? { said: failureIn(news) } : {};
      found.push({ kind: "tool-end", id: call.id, failed, ...said, at: null });
      state.ended = true;
    }
    return found;
  }
}

/** The other kinds are ours: a program cannot call one of its tools a tool of ours. */
const ofProtocol = toolKinds.slice(0, toolKinds.indexOf("other") + 1);

function merged(known: AcpCall | undefined, id: string, news: Fields): AcpCall {
  const title = text(news.title) ?? known?.title ?? "";
  const contents = objects(news.content);
  const diffs = contents.filter(({ type }) => type === "diff");
  const named = [...objects(news.locations), ...diffs].flatMap(({ path }) => text(path) || []);
  const kind = ofProtocol.find((one) => one === news.kind);
  return {
    id,
    name: known?.name || title,
    title,
    // A request may say less than what was told before: what is known stays.
    kind: kind === undefined || (kind === "other" && known !== undefined) ? (known?.kind ?? "other") : kind,
    input: { ...known?.input, ...fields(news.rawInput) },
    paths: named.length > 0 ? [...new Set(named)] : (known?.paths ?? []),
    texts: contents.flatMap(({ content }) => text(fields(content)?.text) ?? []),
    changes: diffs.length > 0 || (known?.changes ?? false),
  };
}

/** Some programs say the directory first, and what the tool is used on later. */
const isKnown = ({ cwd: _, ...input }: Fields): boolean => Object.keys(input).length > 0;

/** The exit code of a command, where the program tells it: a command that failed is a call that was made. */
function exitCodeIn({ rawOutput }: Fields): number | undefined {
  const out = fields(rawOutput);
  const parts = objects(out?.contents).map(({ exitCode }) => number(exitCode));
  const code = number(fields(out?.metadata)?.exit) ?? number(out?.exitCode) ?? number(out?.exit_code);
  return code ?? parts.find((one) => one !== undefined);
}

/** What a failed tool answered: words among its contents, else what it gave out. */
function failureIn(news: Fields): string {
  const texts = objects(news.content).flatMap(({ content }) => text(fields(content)?.text) ?? []);
  const out = fields(news.rawOutput);
  return texts.join("\n") || (text(out?.message) ?? text(out?.error) ?? text(news.rawOutput) ?? "");
}

/** The input that is kept on record. A program that tells none has at least a title or a place. */
const inputOf = ({ input, kind, title, paths }: AcpCall): unknown => {
  if (Object.keys(input).length > 0) return input;
  return kind === "execute" ? { command: title } : paths[0] === undefined ? {} : { path: paths[0] };
};

/**
 * What a call does, for a program of which nothing more is known: its command and its files by the names that inputs
 * commonly have. A command that is nowhere else is the title.
 */
export function acpToolUse(call: AcpCall): ToolUse {
  const given = (...names: readonly string[]): string | undefined =>
    names.flatMap((name) => text(call.input[name]) || []).at(0);
  const command = given("command", "cmd", "script") ?? listed(call.input.command ?? call.input.cmd);
  const paths = pathsIn(call.input);
  const isOwn = call.kind === "other" && command === undefined && paths.length === 0 && ownName.test(call.name);
  // Some programs name the kind after what they take the command to do; a command of several words can do more.
  const isCommand = command !== undefined && /\s/.test(command.trim()) && harmless.includes(call.kind);
  return {
    kind: isOwn ? "own" : isCommand ? "execute" : call.kind,
    command: command ?? (call.kind === "execute" ? call.title || null : null),
    paths: call.kind === "execute" ? paths : [...new Set([...paths, ...call.paths])],
    changes: call.changes || ["content", "newText", "new_string", "newString", "diff"].some((name) => given(name)),
  };
}

const harmless: readonly ToolKind[] = ["read", "search", "think", "fetch"];

/** A command as a list of words: some programs name the shell first. */
function listed(words: unknown): string | undefined {
  const all = list(words).flatMap((word) => text(word) ?? []);
  if (all.length === 0) return undefined;
  const [shell = "", flag = "", script] = all;
  return /(^|\/)(ba|da|z)?sh$/.test(shell) && /^-l?c$/.test(flag) && script !== undefined
    ? script
    : all.map(exactShellWord).join(" ");
}

/** A tool of our own server, which knows its rights. Each program puts the names of server and tool together differently. */
const ownName = /^(?:mcp__?)?overstory[-_./: ]+[a-z_]+$|^[a-z_]+ \(overstory MCP Server\)$/;
